"""How many nodes the Slurm scripts drain: no more than the budget within an hour, even if nodes fail at the same time."""

import datetime
import sys

import pytest
from slurm_scripts import DRAINED, FAULT, decisions, line, noted, run_script, script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Slurm nodes run Linux")
FAULTY = "gpucheck gpu-lost: GPU 1 is lost."


def ago(**time):
    """A time as scontrol shows it."""
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**time)).isoformat()[:19]


def others(drained, *, all=20, minutes=10, reason="gpucheck gpu-lost: x"):
    """Other nodes, some of them drained at a given time."""
    time = ago(minutes=minutes)
    bad = [line("IDLE+DRAIN", reason, time, f"other-{number}") for number in range(drained)]
    good = [line(name=f"good-{number}") for number in range(all - drained - 1)]
    return "\n".join([*bad, line(), *good])


@pytest.mark.parametrize(
    ("budget", "shown", "drains"),
    [
        ("10%", others(1), True),
        ("10%", others(2), False),
        ("10%", others(2, minutes=61), True),
        ("10%", others(2, reason="maintenance"), True),
        ("10%", others(0, all=3), True),  # at least one
        ("2", others(1), True),
        ("2", others(2), False),
        ("0", others(0), False),
        ("many", others(0), False),
    ],
)
def test_number_of_drained_nodes_is_limited_by_the_budget(tmp_path, budget, shown, drains):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat()[:19]
    after = shown.replace(line(), line("IDLE+DRAIN", "gpucheck gpu-lost: GPU 1 is lost.", now))
    path = script(tmp_path, "health_check.sh", body=FAULT, shown=shown, after=after, budget=budget)
    run_script(path)
    assert noted(tmp_path, "scontrol") == (DRAINED.format("") if drains else "")
    assert decisions(tmp_path) == ["drained" if drains else "budget"]
    assert f'gpucheck_drain{{decision="{decisions(tmp_path)[0]}"}} 1\n' in (tmp_path / "state/slurm.prom").read_text()


@pytest.mark.parametrize(
    ("behind", "drains"),  # the node's clock, in minutes; less than 0: it is ahead
    [(-70, False), (-400 * 1440, False), (400 * 1440, True)],
)
def test_hour_of_the_budget_uses_the_clock_of_the_controller(tmp_path, behind, drains):
    """Two nodes were drained ten minutes ago by the controller's clock, or 61 minutes ago if this node is expected to be drained."""
    shown = others(2, minutes=(61 if drains else 10) - behind)
    after = shown.replace(line(), line("IDLE+DRAIN", FAULTY, ago(minutes=-behind)))
    path = script(tmp_path, "health_check.sh", body=FAULT, shown=shown, after=after, budget="2")
    (tmp_path / "config").write_text(f"Configuration data as of {ago(minutes=-behind)}\nSLURM_CONF = /x\n")
    run_script(path)
    assert decisions(tmp_path) == ["drained" if drains else "budget"]


@pytest.mark.parametrize(
    ("others_drained", "stays"),
    [
        ([("a", 5), ("b", 5)], False),
        ([("a", 5), ("b", -5)], True),
        ([("a", 0), ("b", 0)], False),  # in the same second, by name
        ([("a", 0), ("x", 0)], True),
        ([("x", 0), ("y", 0)], True),
        ([("a", 5), ("b", 5), ("c", 5)], False),
    ],
)
def test_simultaneous_drains_above_the_budget_are_undone(tmp_path, others_drained, stays):
    drained = [
        line("IDLE+DRAIN+DYNAMIC_NORM", FAULTY, f"2026-11-24T00:00:{30 - before}", name) for name, before in others_drained
    ]
    after = "\n".join([*drained, line("IDLE+DRAIN", FAULTY, "2026-11-24T00:00:30")])
    path = script(tmp_path, "health_check.sh", body=FAULT, shown=others(1), after=after, budget="2")
    (tmp_path / "config").write_text("Configuration data as of 2026-11-24T00:00:30\n")
    run_script(path)
    assert noted(tmp_path, "scontrol") == DRAINED.format("") + ("" if stays else "update|nodename=node-1|state=undrain|")
    assert decisions(tmp_path) == ["drained" if stays else "budget"]
    assert (tmp_path / "state/drained").exists() == stays


@pytest.mark.parametrize("reason", ["RMA ticket 4711", f"{FAULTY} RMA 4711"])
def test_reason_set_by_another_user_is_not_taken_for_our_own(tmp_path, reason):
    run_script(script(tmp_path, "health_check.sh", body=FAULT, after=line("IDLE+DRAIN", reason), budget="1"))
    assert noted(tmp_path, "scontrol") == DRAINED.format("")
    assert not (tmp_path / "state/drained").exists()
