"""The start cost and step savings of XLA, from the jobs that ran."""

import pytest
from experiments.page import differences

from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.messages.training import ExperimentResult, Job
from gpucheck.core.training.experiments import NotHere, Setting, xla_warm_up


def account(device, first, step, compiled=False, **changes):
    given = {"status": "passed", "first_step_seconds": first, "step_seconds": step, **changes}
    return replace(Job("one_device", (device,), compiled=compiled).planned_run, **given)


def made(*runs):
    names = {name: name for name in ("GPU:0", "GPU:1", "CPU:0")}
    return xla_warm_up.run(Setting(None, None, names, list(runs)))


def test_break_even_step_of_xla():
    found = made(account("GPU:0", 4.0, 0.010), account("GPU:0", 64.0, 0.004, compiled=True))
    figures = {
        "first_step_seconds": 4.0,
        "xla_first_step_seconds": 64.0,
        "step_seconds": 0.010,
        "xla_step_seconds": 0.004,
        "break_even_steps": 10_001,  # 60 s more at the start, 6 ms less at each step after it
    }
    assert found == ExperimentResult(("GPU:0",), figures)


def test_every_figure_is_documented():
    found = made(account("GPU:0", 4.0, 0.010), account("GPU:0", 64.0, 0.004, compiled=True))
    assert differences("xla_warm_up", found.figures) == []


def test_no_break_even_step_if_xla_is_slower():
    slower = made(account("GPU:0", 4.0, 0.010), account("GPU:0", 64.0, 0.011, compiled=True))
    assert "break_even_steps" not in slower.figures
    assert slower.figures["xla_step_seconds"] == 0.011
    at_once = made(account("GPU:0", 4.0, 0.010), account("GPU:0", 3.0, 0.004, compiled=True))
    assert at_once.figures["break_even_steps"] == 1


@pytest.mark.parametrize(
    "runs",
    [
        [account("GPU:0", 4.0, 0.010)],
        [account("GPU:0", 4.0, 0.010), account("GPU:1", 64.0, 0.004, compiled=True)],
        [account("GPU:0", 4.0, 0.010), account("GPU:0", 64.0, 0.004, compiled=True, status="failed")],
        [account("GPU:0", 4.0, 0.010), account("GPU:0", 64.0, 0.004, compiled=True, precision="mixed_float16")],
    ],
)
def test_skipped_without_both_passed_jobs_on_one_device(runs):
    with pytest.raises(NotHere, match="no device has trained in float32 both with XLA and without"):
        made(*runs)
