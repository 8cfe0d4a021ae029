"""A probe whose child ended before it could answer did not look, and every report says so, with the stage."""

import pytest
from reports.builders import report
from reports.test_prometheus import parse, value

from gpucheck.reports import terminal

LOOK = {"width": 200, "color": False, "ascii": False}
HUNG = [
    ("tensorflow", {"imported": None, "error": "timed out", "ending": "timed out", "stage": "import"}),
    ("keras", {"imported": None, "error": "not reached: TensorFlow's process timed out in the stage import"}),
    ("training", {"runs": [], "ending": "timed out", "stage": "import"}),
]
CRASHED = [("tensorflow", {"imported": True, "version": "2.21.0", "ending": "killed by SIGSEGV", "stage": "devices"})]
REFUSED = [("tensorflow", {"imported": False, "error_type": "ImportError", "error": "no"})]


@pytest.mark.parametrize(
    ("changes", "probe", "expected"),
    [
        (HUNG, "tensorflow", 0),
        (HUNG, "keras", 0),
        (HUNG, "training", 0),
        (HUNG, "libraries", 1),
        (CRASHED, "tensorflow", 0),
        (REFUSED, "tensorflow", 1),  # an import that fails is an answer
        ([("training.ending", "killed by SIGSEGV")], "training", 1),  # and so is a crash of what was trained
        ([], "tensorflow", 1),
        ([], "training", 1),
    ],
)
def test_success_is_an_answer(changes, probe, expected):
    assert value(parse(report("h200", changes)), "probe_success", probe=probe) == expected


def test_the_stage_is_named():
    text = terminal.render(report("h200", HUNG), verbose=True, **LOOK)
    assert "device list not reached: timed out in the stage import" in text
    assert "nothing was trained: timed out in the stage import" in text
    for probe in ("tensorflow", "keras", "training"):
        (line,) = [line for line in text.splitlines() if line.split()[:3] == [probe, "no", "answer"]]
        assert "stage" in line or "not reached" in line
    assert "device list not reached: killed by SIGSEGV in the stage devices" in terminal.render(
        report("h200", CRASHED), verbose=False, **LOOK
    )
