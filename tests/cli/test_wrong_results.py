"""A device that computes wrongly, tested on the command line: its name, the step, the exit code and the advice."""

import json

import pytest
from case_files import program
from command import in_a_process
from fleet_cases import REPORT, place
from in_tensorflow import MARKS
from lab.breakages import AFTER_IMPORT

pytestmark = MARKS
FOUR = (
    "--allow-cpu",
    "--strategy",
    "one_device",
    "--logical-devices",
    "4",
    "--format",
    "json",
)  # the first three repeat computations
AGAIN = "gpucheck --soak 30 --allow-cpu"
# The 8 convolutions per round belong to steps 1 to 4.
AT_STEP_3, ONCE_AT_STEP_2 = "conv2d float32 8 4 each", "conv2d float32 8 10 once"


def checked(folder, fault, *args, env=None):
    """Return the exit code and report of a check in which CPU:1 has this fault; see wrong_results.py."""
    (folder / "sitecustomize.py").write_text(AFTER_IMPORT + program("wrong_results.py"))
    env = {"CUDA_VISIBLE_DEVICES": "-1", "PYTHONPATH": str(folder), "WRONG_RESULT": fault}
    done = in_a_process(*FOUR, *args, env=env)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("fault", "args", "code", "summary"),
    [
        (
            ONCE_AT_STEP_2,
            (),
            1,
            "CPU:1 gets different results from the same computation: the loss of step 2 in float32 differed in 1 of 1 repetitions.",
        ),
        pytest.param(
            AT_STEP_3,
            (),
            0,
            "CPU:1 gets different results than CPU:0,2, the same model (CPU): they first differ in the loss of step 3 in float32.",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "matmul int8 1 0 each",
            ("--soak", "0.02"),
            1,
            "CPU:1 computes the int8 product incorrectly: the result is off by 2.9e-06 of its largest value.",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "conv2d float16 8 2 each",
            ("--full",),
            0,
            "CPU:1 gets different results than CPU:0,2, the same model (CPU): they first differ in the loss of step 2 in float16.",
            marks=[pytest.mark.slow, pytest.mark.timeout(400)],
        ),
    ],
)
def test_device_and_step_are_named(tmp_path, fault, args, code, summary):
    found, report = checked(tmp_path, fault, *args)
    first = report["findings"][0]
    assert (first["code"], first["summary"]) == ("device-results-differ", summary)
    assert first["affects"] == ["CPU:1"]
    assert [fix["command"] for fix in first["fix"]] == [AGAIN]
    assert found == report["exit_code"] == code


@pytest.mark.slow
def test_outlier_among_sixteen_nodes_is_named(tmp_path):
    """The checksums are from a healthy and a faulty device; the machines are recorded, because processors are not compared."""
    _, report = checked(tmp_path, AT_STEP_3)
    healthy, faulty, _ = report["facts"]["training"]["checksums"]["devices"]
    reports = tmp_path / "reports"
    reports.mkdir()
    for number in range(16):
        of_gpu = {**(faulty if number == 6 else healthy), "device": "GPU:0", "model": "NVIDIA H200"}
        training = {**REPORT["facts"]["training"], "checksums": {"devices": [of_gpu]}}
        place(reports, f"n{number:02}", {"training": training})
    done = in_a_process("fleet", "merge", str(reports), "--format", "json")
    fleet = json.loads(done.stdout)
    (cause,) = fleet["causes"]
    assert (done.returncode, fleet["verdict"]) == (0, "warn")
    assert (cause["code"], cause["nodes"]) == ("device-results-differ", "n06")
    assert "n[00-05,07-15]" in cause["example"]
    assert "the loss of step 3 in float32" in cause["example"]
    assert cause["command"] == "gpucheck --soak 30"
    assert in_a_process("fleet", "merge", str(reports), "--strict").returncode == 1
