"""Numbers that can't be trusted: memory errors, losses, replicas, precisions."""

import pytest
from one_rule import changed, found, named, only_log, roots, severity, status

from gpucheck.model import Severity, Status

ECC, PRECISION, FALLING = "ecc-errors", "precision-unsupported", "loss-not-falling"


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("ecc_uncorrected_volatile", 1, Severity.ERROR),
        ("remapping_failed", True, Severity.ERROR),
        ("retired_pages_pending", True, Severity.ERROR),
        ("remapping_pending", True, Severity.WARNING),
        ("ecc_uncorrected_aggregate", 7, None),
        ("remapped_rows_uncorrectable", 2, None),
    ],
)
def test_memory_errors(field, value, expected):
    plain = changed({f"gpus.gpus[5].{field}": value}, "hgx-h200", quick=True)
    if expected is None:
        assert status(ECC, plain) is Status.CLEAR
    else:
        assert severity(ECC, plain) is expected
        assert found(ECC, plain).affects == ("GPU 5",)
        assert roots(plain) == [ECC]


def test_a_pending_repair_beside_lost_data_is_an_error():
    assert (
        severity(ECC, changed({"gpus.gpus[0].remapping_pending": True, "gpus.gpus[0].ecc_uncorrected_volatile": 1}))
        is Severity.ERROR
    )


def test_cards_without_counters_are_skipped():
    fields = ("ecc_uncorrected_volatile", "remapping_failed", "remapping_pending", "retired_pages_pending")
    assert status(ECC, changed({f"gpus.gpus[0].{field}": None for field in fields})) is Status.SKIPPED


@pytest.mark.parametrize(("code", "expected"), [("48", True), ("94", True), ("31", False), ("63", True)])
def test_xids_of_memory(code, expected):
    assert (status(ECC, only_log(("xid", f"NVRM: Xid: {code}", {"code": code}))) is Status.FOUND) is expected


def test_memory_errors_explain_bad_losses():
    bad = {"training.runs[0].status": "failed", "training.runs[0].losses_finite": False, "training.runs[0].reason": "not finite"}
    assert roots(changed(bad)) == ["loss-not-finite"]
    assert roots(changed({**bad, "gpus.gpus[0].ecc_uncorrected_volatile": 1})) == [ECC]


def test_weights_that_never_changed():
    finding = found(FALLING, changed({"training.runs[0].gradients_reach_weights": False}))
    assert "not every weight changed" in finding.summary
    assert (
        status(FALLING, changed({"training.runs[0].loss_fell": None, "training.runs[0].gradients_reach_weights": None}))
        is Status.CLEAR
    )
    nan = {"training.runs[0].loss_fell": False, "training.runs[0].losses_finite": False}
    assert status(FALLING, changed(nan)) is Status.CLEAR


def test_what_did_not_fall_is_what_was_compared():
    """The last step may well lie below the first one."""
    loss = {"first": 2.52, "last": 2.45, "first_third": 2.5, "last_third": 2.51}
    finding = found(FALLING, changed({"training.runs[0].loss_fell": False, "training.runs[0].loss": loss}))
    assert finding.summary == (
        "The model did not learn in one_device on GPU:0:"
        " its mean loss was 2.50 in the first third of the steps, 2.51 in the last."
    )
    old = {"first": 2.52, "last": 2.45}  # as a report of an earlier version has it
    finding = found(FALLING, changed({"training.runs[0].loss_fell": False, "training.runs[0].loss": old}))
    assert finding.summary == "The model did not learn in one_device on GPU:0: its loss did not fall."


NAN_LOSS = {"training.runs[0].losses_finite": False, "training.runs[0].status": "failed"}
NAN_WEIGHTS = {"training.runs[1].weights_finite": False, "training.runs[1].status": "failed"}


@pytest.mark.parametrize(
    ("changes", "summary", "cited"),
    [
        (NAN_LOSS, "The loss became NaN or infinite in one_device on GPU:0.", ["runs[0].losses_finite"]),
        (
            NAN_WEIGHTS,
            "The weights became NaN or infinite in mirrored on GPU:0, although the loss was finite.",
            ["runs[1].weights_finite"],
        ),
        (
            {**NAN_WEIGHTS, "training.runs[0].weights_finite": False},
            "The weights became NaN or infinite in one_device on GPU:0 and 1 more, although the loss was finite.",
            ["runs[0].weights_finite", "runs[1].weights_finite"],
        ),
        (
            {**NAN_LOSS, **NAN_WEIGHTS},
            "The loss or the weights became NaN or infinite in one_device on GPU:0 and 1 more.",
            ["runs[0].losses_finite", "runs[1].weights_finite"],
        ),
    ],
)
def test_weights_that_are_not_finite(changes, summary, cited):
    plain = changed(changes)
    finding = found("loss-not-finite", plain)
    assert finding.summary == summary
    assert [item.field for item in finding.evidence] == cited
    assert "enable_check_numerics" in finding.fix[0].text
    assert roots(plain) == ["loss-not-finite"]


def test_weights_that_are_not_finite_did_change():
    lost = {"training.runs[0].weights_finite": False, "training.runs[0].loss_fell": False}
    assert status(FALLING, changed(lost)) is Status.CLEAR


def test_replicas_are_skipped_where_there_was_only_one():
    assert status("replicas-diverged", changed()) is Status.SKIPPED
    assert status("replicas-diverged", changed(name="hgx-h200")) is Status.CLEAR


def test_replicas_on_the_cpu_have_no_nccl_to_take_out_of_the_way():
    plain = changed({"training.runs[1].replicas_equal": False}, "laptop-cpu")
    assert not any("NCCL" in fix.text or fix.command for fix in found("replicas-diverged", plain).fix)


def mixed(policy, reason, capability=(9, 0), **more):
    return {
        "gpus.gpus[0].compute_capability": list(capability),
        "cuda.devices[0].compute_capability": list(capability),
        "training.runs[1].strategy": "one_device",
        "training.runs[1].precision": policy,
        "training.runs[1].status": "failed",
        "training.runs[1].reason": reason,
        **more,
    }


TYPE = "UnimplementedError: no convolution for bfloat16"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (mixed("mixed_bfloat16", TYPE), Status.FOUND),
        (mixed("mixed_bfloat16", "RuntimeError: whatever", (7, 0)), Status.FOUND),
        (mixed("mixed_float16", "RuntimeError: whatever", (7, 0)), Status.CLEAR),
        (mixed("mixed_float16", "RuntimeError: whatever"), Status.CLEAR),
        (mixed("mixed_bfloat16", TYPE, **{"training.runs[0].status": "failed"}), Status.CLEAR),  # float32 fails too
        (mixed("mixed_bfloat16", TYPE, **{"training.runs[1].status": "skipped"}), Status.CLEAR),  # nobody asked for it
    ],
)
def test_precisions(changes, expected):
    assert status(PRECISION, changed(changes)) is expected


def test_the_better_precision_is_one_the_gpu_has():
    volta = found(PRECISION, changed(mixed("mixed_bfloat16", TYPE, (7, 0))))
    pascal = found(PRECISION, changed(mixed("mixed_float16", TYPE, (6, 1))))
    assert '"mixed_float16"' in volta.fix[0].text
    assert '"float32"' in pascal.fix[0].text


def test_a_precision_that_no_device_takes_names_them_all():
    eight = [f"GPU:{number}" for number in range(8)]
    plain = changed(mixed("mixed_float16", TYPE, (9, 0)), "hgx-h200")
    for run in plain["training"]["runs"][:2]:
        run["devices"] = eight
    assert found(PRECISION, plain).summary == "Training in mixed_float16 fails on GPU:0-7 and works in float32."


def measured(policy, rate, capability, **more):
    passed = {"training.runs[1].status": "passed", "training.runs[1].samples_per_second": rate}
    return mixed(policy, None, capability, **passed, **{"training.runs[0].samples_per_second": 1200.0, **more})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (measured("mixed_float16", 500.0, (6, 1)), Status.FOUND),
        (measured("mixed_float16", 800.0, (6, 1)), Status.FOUND),
        (measured("mixed_float16", 900.0, (6, 1)), Status.CLEAR),  # the steps are small: that says nothing
        (measured("mixed_float16", 500.0, (7, 0)), Status.CLEAR),  # it has what it takes: not a matter of the type
        (measured("mixed_bfloat16", 500.0, (7, 5)), Status.FOUND),
        (measured("mixed_bfloat16", None, (7, 5)), Status.CLEAR),
        (measured("mixed_bfloat16", 500.0, (7, 5), **{"training.runs[0].status": "failed"}), Status.CLEAR),
        (measured("mixed_bfloat16", 500.0, (7, 5), **{"training.runs[1].compiled": True}), Status.CLEAR),
    ],
)
def test_a_precision_that_was_measured_slower(changes, expected):
    assert status(PRECISION, changed(changes)) is expected


def test_a_slower_precision_is_told_in_numbers():
    plain = changed(measured("mixed_float16", 500.0, (6, 1)))
    assert severity(PRECISION, plain) is Severity.WARNING
    assert found(PRECISION, plain).summary == (
        "Training in mixed_float16 is slower than in float32 on GPU 0 (NVIDIA H200): 500 against 1200 samples per second;"
        " its compute capability 6.1 has no float16 Tensor Cores."
    )


def test_keras_warning_in_a_log():
    event = ("precision-unsupported", "Your GPU may run slowly", {"dtype": "mixed_float16"})
    assert named(event)[PRECISION].severity is Severity.WARNING


def test_keras_warning_about_a_precision_that_was_tried_here():
    """Keras 2 warns of mixed_float16 wherever there is no GPU; only ``--full`` asked for it."""
    said = [{"kind": "precision-unsupported", "line": 9, "text": "may run slowly", "fields": {"dtype": "mixed_float16"}}]
    passed = {"training.runs[1].precision": "mixed_float16", "training.runs[1].status": "passed"}
    assert status(PRECISION, changed({**passed, "log.events": said})) is Status.CLEAR


def test_nan_in_a_log_is_not_taken_back_by_further_steps():
    events = (("loss-not-finite", "loss: nan", {"value": "nan", "step": "12"}), ("training-progress", "step 13"))
    assert named(*events)["loss-not-finite"].summary == "The training loss became nan at step 12."


def test_an_uncorrectable_error_in_a_log():
    assert status(ECC, only_log(("ecc-uncorrectable", "GPU 3: uncorrectable ECC error"))) is Status.FOUND
