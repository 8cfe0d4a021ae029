"""GPU memory: held by others, exhausted, or asked for in the wrong way; and what cuBLAS and cuDNN make of that."""

import pytest
from one_rule import changed, found, log, only_log, outcome, roots, severity, status

from gpucheck.model import Severity, Status

HELD = "gpu-memory-held-by-others"
GIB = 1 << 30
PROCESS = {"pid": 4242, "memory_bytes": 139 * GIB, "name": "python3"}


def held(free_gib, gpu=0, **process):
    total = 150754820096
    return {
        f"gpus.gpus[{gpu}].memory_free_bytes": int(free_gib * GIB),
        f"gpus.gpus[{gpu}].memory_used_bytes": total - int(free_gib * GIB),
        f"gpus.gpus[{gpu}].processes": [{**PROCESS, **process}],
    }


UNTRAINED = {"training.runs": []}


@pytest.mark.parametrize(("free_gib", "expected"), [(1.4, Severity.ERROR), (1.6, Severity.WARNING), (60, Severity.WARNING)])
def test_too_little_free_is_an_error_and_more_than_half_held_a_warning(free_gib, expected):
    assert severity(HELD, changed({**held(free_gib), **UNTRAINED})) is expected


def test_less_than_half_held_is_no_finding():
    assert status(HELD, changed(held(100))) is Status.CLEAR


def test_same_cause_with_quick():
    plain = changed(held(0.5), quick=True)
    assert severity(HELD, plain) is Severity.ERROR
    assert roots(plain) == [HELD]


def test_a_job_that_passed_proves_that_it_starts():
    finding = found(HELD, changed(held(0.9)))
    assert finding.severity is Severity.WARNING
    assert "leaves 922 MiB" in finding.summary


def test_our_own_processes_do_not_count():
    assert status(HELD, changed(held(0.5, own=True))) is Status.CLEAR


def test_gpus_hidden_from_this_process_are_not_judged():
    plain = changed({**held(0.5, gpu=2), **UNTRAINED}, "hgx-h200")
    assert found(HELD, plain).affects == ("GPU 2",)
    plain["cuda"]["devices"] = [dict(plain["cuda"]["devices"][5], ordinal=0)]
    plain["cuda"]["device_count"] = 1
    assert status(HELD, plain) is Status.CLEAR
    plain["cuda"] = {"status": "failed", "result": 100}
    assert status(HELD, plain) is Status.CLEAR


def test_training_on_another_gpu_proves_nothing_for_this_one():
    plain = changed(held(0.5, gpu=2), "hgx-h200")
    plain["training"]["runs"] = [run for run in plain["training"]["runs"] if "GPU:2" not in run["devices"]]
    finding = found(HELD, plain)
    assert finding.severity is Severity.ERROR
    assert any(fix.command and fix.command.startswith("export CUDA_VISIBLE_DEVICES=GPU-") for fix in finding.fix)


def test_the_holder_is_named_only_if_it_explains_what_is_held():
    assert found(HELD, changed(held(0.9))).summary.startswith("python3 (pid 4242) holds 139.5 of the 140.4 GiB of GPU 0")
    hidden = changed({**held(0.9), "gpus.gpus[0].processes": []})
    assert found(HELD, hidden).summary.startswith("A process that can't be seen from here holds")
    desktop = changed(held(0.9, memory_bytes=30 * GIB))
    assert found(HELD, desktop).summary.startswith("A process that can't be seen from here holds")


@pytest.mark.parametrize("field", ["memory_free_bytes", "memory_total_bytes"])
def test_unknown_memory_is_skipped(field):
    assert status(HELD, changed({f"gpus.gpus[0].{field}": None})) is Status.SKIPPED


def test_a_mig_boards_memory_is_not_ours_to_judge():
    assert status(HELD, changed({**held(0.5), "gpus.gpus[0].mig_enabled": True})) is Status.SKIPPED


OOM = "ResourceExhaustedError: OOM when allocating tensor with shape[64,128,16,16]"
FAILED = {"training.runs[0].status": "failed", "training.runs[1].status": "skipped", "training.runs[0].stage": "steps"}


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (OOM, "gpu-memory-exhausted"),
        ("InternalError: failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED", "cublas-init-failed"),
        ("UnknownError: Failed to get convolution algorithm: cuDNN failed to initialize", "cudnn-init-failed"),
    ],
)
def test_a_failure_is_named_and_blamed_on_who_holds_the_memory(reason, code):
    plain = changed({**FAILED, "training.runs[0].reason": reason})
    assert roots(plain) == [code]
    plain = changed({**FAILED, "training.runs[0].reason": reason, **held(0.9)})
    assert roots(plain) == [HELD]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("gpu-memory-exhausted", "out-of-memory"),
        ("cublas-init-failed", "cublas-failed"),
        ("cudnn-init-failed", "cudnn-failed"),
        ("memory-growth-too-late", "memory-growth-too-late"),
        ("memory-growth-mixed", "memory-growth-mixed"),
    ],
)
def test_log_lines(code, kind):
    alarm = (kind, "an alarming line")
    assert found(code, only_log(alarm)).evidence[0].value == "an alarming line"
    # Taken back by progress after it; harmless where every job passed; unknown where nothing was watched.
    assert status(code, only_log(alarm, ("training-progress", "step 2"))) is Status.CLEAR
    assert status(code, only_log(("training-progress", "step 2"), alarm)) is Status.FOUND
    assert status(code, changed({"log": log(alarm)})) is Status.CLEAR
    assert status(code, {}) is Status.SKIPPED


def test_out_of_host_memory_is_not_the_gpus():
    event = ("out-of-memory", "Allocator (mklcpu) ran out of memory", {"allocator": "cpu"})
    assert status("gpu-memory-exhausted", only_log(event)) is Status.CLEAR
    plain = changed(
        {**FAILED, "training.runs[0].devices": ["CPU:0"], "training.runs[0].reason": OOM + " on CPU:0 by allocator cpu"}
    )
    assert status("gpu-memory-exhausted", plain) is Status.CLEAR
    assert roots(plain) == ["host-memory-exhausted"]


def test_size_and_device_of_a_logged_allocation():
    event = ("out-of-memory", "...", {"allocator": "gpu", "bytes": "8589934592", "device": "GPU:0"})
    assert found("gpu-memory-exhausted", only_log(event)).summary == (
        "GPU memory ran out: an allocation of 8.0 GiB on GPU:0 failed."
    )


def test_memory_growth_refused_for_another_reason_is_neither():
    growth = {"tensorflow.memory_growth": {"settable": False, "problem": "ValueError: something else"}}
    for code in ("memory-growth-too-late", "memory-growth-mixed"):
        assert status(code, changed(growth)) is Status.CLEAR


def test_memory_growth_is_not_judged_with_quick():
    assert outcome("memory-growth-too-late", changed(quick=True)).outcome.status is Status.SKIPPED


@pytest.mark.parametrize("name", ["h200", "laptop-cpu"])
def test_what_gpucheck_itself_asks_for_too_late_is_nobodys_fault(name):
    refused = log(("memory-growth-too-late", "RuntimeError: Virtual devices cannot be modified after being initialized"))
    died = {"log": refused, "training": {"ending": "RuntimeError: Physical devices cannot be modified", "stage": "plan"}}
    assert status("memory-growth-too-late", changed(died, name)) is Status.CLEAR
