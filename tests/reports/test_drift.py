"""Drift on a terminal, as JSON and as Markdown."""

import json

from gpucheck.commands.expectations import drift
from gpucheck.commands.expectations.drift import GROUPS, Change, Drift
from gpucheck.core.reports import json as json_report

LOOK = {"width": 60, "color": False, "ascii": False, "verbose": False}


def found(*changes, left=()):
    made = tuple(Change(group=group, what=what, old=old, new=new, why=GROUPS[group]) for group, what, old, new in changes)
    return Drift(baseline="good.json", current="this machine", changes=made, not_compared=left)


KERAS = ("TensorFlow and Keras", "Keras", "3.15.1", "3.4.1")


def test_drift_on_a_terminal():
    text = drift.render(found(KERAS, ("limits", "open files", "1024", None)), **LOOK)
    assert text == (
        "TensorFlow and Keras\n"
        "  A different release runs different code: results, speed\n"
        "  and saved models may differ.\n"
        "  Keras: 3.15.1 → 3.4.1\n"
        "\n"
        "limits\n"
        "  Resource limits determine how fast a process gets data,\n"
        "  and when it is killed.\n"
        "  open files: 1024 → absent\n"
        "\n"
        "2 differences between good.json and this machine.\n"
    )


def test_no_difference_prints_nothing():
    same = found(left=("training: not checked with --quick",))
    assert drift.render(same, **LOOK) == ""
    assert drift.render_markdown(same) == ""
    assert json.loads(json_report.render(same))["changes"] == []


def test_verbose_lists_what_was_not_compared():
    text = drift.render(found(left=("training: not checked with --quick",)), **{**LOOK, "verbose": True})
    assert text.startswith("not compared\n  training: not checked with --quick\n")


def test_output_is_ascii_without_control_characters():
    text = drift.render(found(("limits", "öde\x1b[31m", "1", "2")), **{**LOOK, "ascii": True})
    assert text.isascii()
    assert "\x1b" not in text
    assert "1 -> 2" in text


def test_drift_as_json():
    got = json.loads(json_report.render(found(KERAS)))
    assert got["baseline"] == "good.json"
    assert got["changes"] == [
        {"group": KERAS[0], "what": "Keras", "old": "3.15.1", "new": "3.4.1", "note": None, "why": GROUPS[KERAS[0]]}
    ]


def test_markdown_cells_are_escaped():
    text = drift.render_markdown(found(("environment variables", "XLA_FLAGS", '"a|b\n<x>"', None)))
    assert '| XLA_FLAGS | "a\\|b &lt;x>" | absent |' in text
    assert "### environment variables" in text


def test_speed_is_reported_with_its_ratio():
    speed = Change(group="training speed", what="s", old="300", new="900", note="3.0 times as fast", why="w")
    made = Drift(baseline="a", current="b", changes=(speed,), not_compared=())
    assert "  s: 300 → 900, 3.0 times as fast\n" in drift.render(made, **LOOK)
    assert "| s | 300 | 900, 3.0 times as fast |" in drift.render_markdown(made)


def test_huge_value_is_truncated_with_its_size():
    change = ("environment variables", "FLAGS", "a" * 5_000_000, "b")
    for text in (drift.render(found(change), **LOOK), drift.render_markdown(found(change))):
        assert 1900 < len(text) < 3000
        assert "… (5,000,000" in text
    assert len(json.loads(json_report.render(found(change)))["changes"][0]["old"]) == 5_000_000
