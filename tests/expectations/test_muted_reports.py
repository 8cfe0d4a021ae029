"""A muted finding in every format: told, and not counted."""

import importlib
import time
import xml.etree.ElementTree as ElementTree

import pytest
from fakes import machine, readings
from msgspec.structs import replace

from gpucheck.engine.facts import Facts
from gpucheck.engine.pipeline import assemble, judge
from gpucheck.engine.plugin import load_rows, load_rules
from gpucheck.expectations import read
from gpucheck.model import Request, Verdict
from gpucheck.reports import terminal

LOOK = {"width": 100, "color": False, "ascii": False, "verbose": False}
UNTIL = "2999-12-31"


def report(until=UNTIL, muting=True):
    text = "[gpu]\ncount = 8\n"
    if muting:
        text += f'[[mute]]\ncode = "gpu-count-unexpected"\nreason = "GPU 7 is away"\nuntil = {until}\n'
    plain = machine("h200")
    plain.pop("request")
    wanted = Request(expectations=read.parse(text, "e.toml"))
    given = readings(plain, wanted)
    own = [one for one in given if one.probe != "request"]
    return assemble(wanted, own, judge(Facts(given), load_rules()), load_rows(), time.monotonic())


def render(style, made):
    if style == "terminal":
        return terminal.render(made, **LOOK)
    for needed in {"html": ("jinja2", "matplotlib"), "prometheus": ("prometheus_client",)}.get(style, ()):
        pytest.importorskip(needed)
    return importlib.import_module(f"gpucheck.reports.{style}").render(made)


@pytest.mark.parametrize("style", ["terminal", "markdown", "html", "junit", "json"])
def test_it_is_told_with_reason_and_day(style):
    assert "GPU 7 is away until 2999-12-31" in render(style, report())


@pytest.mark.parametrize(
    "style", ["nagios", "npd", "termination", "github", "markdown", "prometheus", "junit", "html", "terminal"]
)
def test_it_is_no_failure(style):
    muted, counting = render(style, report()), render(style, report(muting=False))
    assert muted != counting
    if style == "junit":
        found = [ElementTree.fromstring(text).get("failures") for text in (muted, counting)]
        assert int(found[0]) < int(found[1])
    elif style == "prometheus":
        assert 'code="gpu-count-unexpected"' in muted
        assert next(line for line in muted.splitlines() if 'code="gpu-count-unexpected"' in line).endswith(" 0.0")
    elif style in ("nagios", "npd", "termination", "github"):
        assert "gpu-count-unexpected" not in muted
        assert "gpu-count-unexpected" in counting
    else:
        assert "Ready: 1 × NVIDIA H200 trained" in muted
        assert "Ready:" not in counting


def test_the_terminal_counts_it_apart():
    text = render("terminal", report())
    assert "- Number of GPUs is 1, where 8 was expected.    gpu-count-unexpected" in text
    assert text.splitlines()[-1].startswith("1 muted · ")


def test_an_expired_mute_says_so():
    text = render("terminal", report(until="2020-01-01"))
    assert "muted GPU 7 is away until 2020-01-01, which is over: it counts again" in text
    assert text.splitlines()[-1].startswith("1 error · ")


def test_what_follows_from_a_muted_finding_still_counts():
    made = report()
    (first,) = made.findings
    follower = replace(first, code="gpus-not-listed", summary="Another.", muted=None, explained_by=first.code)
    made = replace(made, findings=(first, follower), verdict=Verdict.FAIL, exit_code=1)
    assert render("terminal", made).splitlines()[-1].startswith("1 error, 1 muted · ")
    assert "gpus-not-listed" in render("npd", made)
