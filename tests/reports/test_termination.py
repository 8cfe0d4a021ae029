import pytest
from reports.cases import CASES, cusolver, eight_one_lost
from reports.hostile import dirty, long

from gpucheck.reports import termination


@pytest.mark.parametrize("make", [*CASES.values(), long, dirty], ids=[*CASES, "long", "dirty"])
def test_at_most_4096_bytes_without_control_characters(make):
    text = termination.render(make())
    assert 0 < len(text.encode("utf-8")) <= 4096
    assert all(line.isprintable() for line in text.split("\n"))


def test_most_severe_first_and_the_rest_counted():
    assert termination.render(eight_one_lost()).startswith(
        "ERROR gpu-lost (hardware): GPU 3 has fallen off the bus; the other 7 work.\n  do: sudo reboot\n  saw: GPU 3 problem: GPU is lost\n"
    )
    lines = termination.render(cusolver()).splitlines()
    roots = [line.split()[:2] for line in lines if not line.startswith("  ")]
    assert roots == [["ERROR", "cuda-libraries-unreachable"], ["WARNING", "kernel-cache-unwritable"]]
    assert termination.render(long()).splitlines()[-1].endswith(" more lines")


def test_unknown_tells_every_gap():
    made = CASES["unknown"]()
    assert all(reason in termination.render(made) for reason in made.unknown_because)
    assert termination.render(made).startswith("UNKNOWN: ")
