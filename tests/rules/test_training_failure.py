"""The catch-alls: they speak where nobody else does, and follow every cause that is named."""

import pytest
from one_rule import changed, found, log_findings, roots, severity, status

from gpucheck.model import Severity, Status

FAILED = {"training.runs[0].status": "failed", "training.runs[0].stage": "steps", "training.runs[0].reason": "KeyError: 'x'"}


def test_an_exception_without_a_name():
    plain = changed(FAILED)
    assert roots(plain) == ["training-failed"]
    assert found("training-failed", plain).affects == ("GPU:0",)


@pytest.mark.parametrize(
    "change",
    [
        {"training.runs[0].losses_finite": False},
        {"training.runs[0].loss_fell": False},
        {"training.runs[0].placement_verified": False, "training.runs[0].misplaced_ops": ["Conv2D on CPU:0"]},
        {"training.runs[1].replicas_equal": False},
        {"training.runs[0].reason": "ResourceExhaustedError: OOM when allocating tensor"},
        {"training.runs[0].reason": "InternalError: NCCL: unhandled cuda error"},
        {"training.runs[0].reason": "ValueError: Memory growth cannot differ between GPU devices"},
    ],
)
def test_a_named_cause_comes_first(change):
    causes = roots(changed({**FAILED, **change}))
    assert len(causes) == 1
    assert causes != ["training-failed"]


def test_devices_that_workers_have_alike_stand_once():
    workers = {"training.runs[0].strategy": "multi_worker_mirrored", "training.runs[0].devices": ["GPU:0", "GPU:0"]}
    assert found("training-failed", changed({**FAILED, **workers})).summary == (
        "Training with multi_worker_mirrored on 2 × GPU:0 failed at the stage \"steps\": KeyError: 'x'."
    )


LEAK = {"name": "memory_after_clear", "status": "failed", "reason": "memory is not given back on GPU:0", "devices": ["GPU:0"]}
HUNG = {"name": "out_of_memory", "status": "failed", "reason": "the process hung when it trained again", "devices": ["GPU:0"]}


def test_a_failed_experiment_is_a_warning():
    plain = changed({"training.experiments": [{"name": "scaling", "status": "passed"}, LEAK]})
    assert roots(plain) == ["training-failed"]
    finding = found("training-failed", plain)
    assert severity("training-failed", plain) is Severity.WARNING
    assert finding.summary == "All jobs train, but the experiment memory_after_clear failed: memory is not given back on GPU:0."
    assert [item.field for item in finding.evidence] == ["experiments[1].reason"]
    assert finding.affects == ("GPU:0",)


def test_several_failed_experiments_are_all_named():
    finding = found("training-failed", changed({"training.experiments": [LEAK, HUNG]}))
    assert "memory_after_clear failed (out_of_memory failed, too): memory" in finding.summary
    assert [item.value for item in finding.evidence] == [LEAK["reason"], HUNG["reason"]]


@pytest.mark.parametrize(
    ("name", "reason", "fix"),
    [
        ("precision", "the first loss is 3.632 in mixed_bfloat16 and 2.745 in float32, 32 % apart", "set_global_policy"),
        ("tensor_float_32", "the first loss is 3.6 with TF32 and 2.7 without", "enable_tensor_float_32_execution(False)"),
        ("batch_normalization", "with synchronized=True the variance is 2 % from that of the global batch", "normalization"),
        ("global_batch", "the same 32 samples give a first loss of 1.25 on 2 replicas and of 2.5 on one device", "one device"),
        ("memory_after_clear", "memory is not given back on CPU:0: each model leaves 103 MiB or more", "process of its own"),
        ("memory_growth", "memory growth is not honoured on GPU:0: 1 of 80 GiB are free", "memory_limit"),
        ("out_of_memory", "asking for 6.9 GiB does not raise ResourceExhaustedError, but MemoryError: std::bad_alloc", "catch"),
    ],
)
def test_each_experiment_has_its_own_fix(name, reason, fix):
    finding = found("training-failed", changed({"training.experiments": [{"name": name, "status": "failed", "reason": reason}]}))
    first, again = finding.fix
    assert fix in first.text
    assert again.command == "gpucheck --full -v"
    assert "installation errors" not in first.text + again.text


@pytest.mark.parametrize("name", ["precision", "xla_warm_up"])
def test_an_exception_in_an_experiment_is_looked_up(name):
    raised = {"name": name, "status": "failed", "reason": "AttributeError: module 'keras' has no attribute 'x'"}
    finding = found("training-failed", changed({"training.experiments": [raised]}))
    assert [fix.text.partition(":")[0] for fix in finding.fix] == [
        "Look the message up among the known installation errors",
        "Repeat it while nothing else uses the machine, and see the log",
    ]


def test_wrong_numbers_come_before_memory():
    names = ["memory_after_clear", "global_batch", "batch_normalization", "precision"]
    failed = [{"name": name, "status": "failed", "reason": f"the {name} is off"} for name in names]
    finding = found("training-failed", changed({"training.experiments": failed}))
    assert finding.summary == (
        "All jobs train, but the experiment precision failed (batch_normalization, global_batch, memory_after_clear failed, too):"
        " the precision is off."
    )
    assert "set_global_policy" in finding.fix[0].text
    assert "process of its own" in finding.fix[3].text
    assert len(finding.fix) == 5
    assert [item.field for item in finding.evidence] == [f"experiments[{place}].reason" for place in (3, 2, 1, 0)]


def test_a_failed_job_comes_before_a_failed_experiment():
    plain = changed({**FAILED, "training.experiments": [LEAK]})
    assert found("training-failed", plain).summary.startswith("Training with one_device")
    assert severity("training-failed", plain) is Severity.ERROR
    assert LEAK["reason"] in [item.value for item in found("training-failed", plain).evidence]


@pytest.mark.parametrize("status_", ["passed", "skipped", "timed_out"])
def test_an_experiment_that_did_not_fail_is_no_finding(status_):
    assert roots(changed({"training.experiments": [{**LEAK, "status": status_}]})) == []


def test_an_experiment_that_ended_the_process_is_that_crash():
    died = {"training.ending": "killed by SIGSEGV", "training.stage": "experiment memory_after_clear"}
    assert roots(changed({**died, "training.experiments": [LEAK]})) == ["training-crashed"]


def test_nothing_trained_is_not_clear():
    assert status("training-failed", changed({"training.runs": []})) is Status.SKIPPED
    assert status("training-failed", changed({"training.runs[0].status": "timed_out"})) is Status.CLEAR


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("killed by SIGSEGV", Status.FOUND),
        ("killed by SIGABRT", Status.FOUND),
        ("exited with status 134", Status.FOUND),
        ("killed by SIGTERM", Status.SKIPPED),
        ("timed out", Status.SKIPPED),
        (None, Status.CLEAR),
    ],
)
def test_endings(ending, expected):
    assert status("training-crashed", changed({"training.ending": ending, "training.stage": "steps"})) is expected


def test_a_crash_explains_the_run_that_it_ended():
    crash = {"training.ending": "killed by SIGBUS", "training.stage": "steps"}
    assert roots(changed({**FAILED, **crash})) == ["training-crashed"]


def test_a_crash_at_import_where_training_was_switched_off():
    plain = changed({"tensorflow": {"ending": "killed by SIGILL"}})
    del plain["training"]
    assert "SIGILL" in found("training-crashed", plain).summary
    assert status("training-crashed", changed(quick=True)) is Status.SKIPPED


CHECK = "F0000 00:00:1.3    7 threadpool.cc:127] Check failed: num_threads >= 1 (-3 vs. 1)"
CALL = 'File "tensorflow/python/eager/context.py", line 726 in ensure_initialized'
ABORTED = {"training.runs": [], "training.ending": "killed by SIGABRT", "training.stage": "plan"}


def test_what_the_process_said_last_is_told():
    finding = found("training-crashed", changed({**ABORTED, "training.last_words": [CHECK, CALL]}))
    assert finding.summary == (
        'The training process crashed at the stage "plan": killed by SIGABRT after "Check failed: num_threads >= 1 (-3 vs. 1)".'
    )
    assert [item.value for item in finding.evidence] == ["killed by SIGABRT", "plan", CHECK, CALL]
    assert not any("PYTHONFAULTHANDLER" in fix.text for fix in finding.fix)  # the call is there


def test_a_call_alone_is_no_cause():
    finding = found("training-crashed", changed({**ABORTED, "training.last_words": [CALL]}))
    assert finding.summary == 'The training process crashed at the stage "plan": killed by SIGABRT.'
    assert finding.evidence[-1].value == CALL


def test_where_no_call_was_told_the_users_own_program_can_tell_it():
    for words in ([], [CHECK]):
        fixes = found("training-crashed", changed({**ABORTED, "training.last_words": words})).fix
        assert any("PYTHONFAULTHANDLER" in fix.text and fix.command is None for fix in fixes)


@pytest.mark.parametrize(("value", "words", "named"), [("-3", CHECK, True), ("4", CHECK, False), ("-3", CALL, False)])
def test_a_negative_number_of_threads_is_named(value, words, named):
    variables = {"environment.variables": {"TF_NUM_INTRAOP_THREADS": value}}
    finding = found("training-crashed", changed({**ABORTED, **variables, "training.last_words": [words]}))
    assert (finding.fix[0].command == "unset TF_NUM_INTRAOP_THREADS") is named
    assert (finding.evidence[0].field == "variables.TF_NUM_INTRAOP_THREADS") is named


def test_last_words_of_an_import_and_of_a_worker():
    plain = changed({"tensorflow": {"ending": "killed by SIGABRT", "last_words": [CHECK]}})
    del plain["training"]
    assert CHECK in [item.value for item in found("training-crashed", plain).evidence]
    fault = {"worker": "worker 1", "how": "ended", "reason": "killed by SIGABRT", "stage": "connect", "last_words": [CHECK]}
    finding = found("training-crashed", changed({"training.runs[0].worker_faults": [fault]}))
    assert finding.summary.endswith('killed by SIGABRT after "Check failed: num_threads >= 1 (-3 vs. 1)".')
    assert list(finding.evidence[0].value[0].last_words) == [CHECK]
    assert finding.affects == ("worker 1",)


def test_what_a_pasted_log_says_before_the_crash():
    lines = (
        "F0000 00:00:1.3 7 threadpool.cc:127] Check failed: num_threads >= 1 (-3 vs. 1)",
        "*** Check failure stack trace: ***",
        "Fatal Python error: Aborted",
    )
    (told,) = log_findings("\n".join(lines))
    assert told.code == "training-crashed"
    assert told.summary == "The program crashed in native code (SIGABRT): Check failed: num_threads >= 1 (-3 vs. 1)."
    assert [item.value for item in told.evidence] == [lines[0], lines[2]]


def test_xla_that_fails_where_plain_kernels_work():
    broken = {"training.runs[0].xla_verified": False, "training.runs[0].xla_problem": "InternalError: no ptxas"}
    finding = found("training-failed", changed(broken))
    assert "works only without XLA" in finding.summary
    assert finding.affects == ("GPU:0",)
    assert status("training-failed", changed({"training.runs[0].xla_verified": None})) is Status.CLEAR
