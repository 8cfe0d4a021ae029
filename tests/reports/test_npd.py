import pytest
from reports.cases import CASES, eight_one_lost
from reports.hostile import dirty, long

from gpucheck.reports import npd


@pytest.mark.parametrize("make", [*CASES.values(), long, dirty], ids=[*CASES, "long", "dirty"])
def test_one_line_of_at_most_80_bytes(make):
    text = npd.render(make())
    assert len(text.encode("utf-8")) <= 80
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text[:-1].isprintable()
    assert text.split()[0].rstrip(":") in ("PASS", "WARN", "FAIL", "UNKNOWN")


def test_verdict_and_cause_come_first():
    assert npd.render(eight_one_lost()) == "FAIL gpu-lost: GPU 3 has fallen off the bus; the other 7 work.\n"


def test_unknown_names_the_gap():
    assert npd.render(CASES["unknown"]()) == "UNKNOWN: No verdict: tensorflow: did not answer within 120 s\n"
