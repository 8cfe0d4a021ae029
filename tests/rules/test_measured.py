"""Rules that judge measurements of training: scaling, peers, input, and the device against the CPU; and forks."""

import pytest
from one_rule import changed, found, named, only_log, roots, severity, status

from gpucheck.model import Severity, Status

SCALING, BATCH, PEERS = "scaling-inefficient", "small-per-replica-batch", "peer-access-unavailable"
INPUT, RESULTS, FORK = "input-pipeline-bound", "device-results-differ", "cuda-used-after-fork"


def eight(efficiency=None, doubled=None, **more):
    run = {"scaling_efficiency": efficiency, "doubled_batch_scaling_efficiency": doubled}
    return changed({**{f"training.runs[8].{name}": value for name, value in run.items()}, **more}, "hgx-h200")


@pytest.mark.parametrize(
    ("efficiency", "doubled", "expected"),
    [
        (None, None, []),
        (0.92, 0.93, []),
        (0.8, 0.95, []),
        (0.5, None, [SCALING]),
        (0.5, 0.55, [SCALING]),
        (0.5, 0.65, [BATCH]),
    ],
)
def test_scaling(efficiency, doubled, expected):
    assert roots(eight(efficiency, doubled)) == expected


def test_what_was_not_measured_is_not_clear():
    assert status(SCALING, eight()) is Status.SKIPPED
    assert status(BATCH, eight(0.5)) is Status.SKIPPED
    assert status(SCALING, eight(0.9)) is Status.CLEAR
    assert status(INPUT, changed()) is Status.SKIPPED
    assert status(RESULTS, changed()) is Status.SKIPPED


def test_logical_cpu_devices_share_their_cores():
    assert roots(changed({"training.runs[1].scaling_efficiency": 0.4}, "laptop-cpu")) == []


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"gpus.gpus[3].nvlinks[5].active": False}, "nvlink-down"),
        ({"limits.cpu_quota": 4.0}, "cpu-quota-too-low"),
        ({"gpus.gpus[2].pcie_width": 4}, "pcie-link-degraded"),
        ({"training.runs[8].input_wait_share": 0.4}, INPUT),
    ],
)
def test_a_known_cause_explains_slow_scaling(changes, cause):
    assert roots(eight(0.5, **changes)) == [cause]


def test_peers_behind_a_switch():
    plain = eight(**{"cuda.peers_missing": [[0, 3], [3, 0], [0, 4]]})
    assert (
        found(PEERS, plain).summary
        == "CUDA offers no peer access between GPU:0 and GPU:3 (and 1 more pair), although an NVSwitch joins them."
    )
    assert found(PEERS, plain).affects == ("GPU:0", "GPU:3", "GPU:4")


def unswitched(efficiency):
    plain = eight(efficiency, **{"cuda.peers_missing": [[0, 1], [1, 0]]})
    for gpu in plain["gpus"]["gpus"]:
        gpu["fabric_state"] = "not-supported"
    return plain


def test_cards_that_never_had_peer_access_are_fine_unless_training_is_slow():
    assert roots(unswitched(None)) == []
    assert roots(unswitched(0.9)) == []
    assert roots(unswitched(0.4)) == [PEERS]
    assert "uses 40 % of its devices" in found(PEERS, unswitched(0.4)).summary


def test_peers_that_nobody_asked_about():
    assert status(PEERS, eight(**{"cuda.peers_missing": None})) is Status.SKIPPED
    assert status(PEERS, changed()) is Status.CLEAR  # one GPU


REFUSED = ("peer-access-unavailable", "failed to enable peer access from 0x1 to 0x2")


def test_refused_peers_in_a_log():
    assert severity(PEERS, only_log(REFUSED)) is Severity.WARNING
    stopped = only_log(REFUSED, ("nccl-failed", "NCCL WARN Cuda failure 217"))
    assert severity(PEERS, stopped) is Severity.ERROR
    assert roots(stopped) == [PEERS]
    assert roots(only_log(REFUSED, ("training-progress", "step 10"))) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"input_wait_share": 0.19}, Status.CLEAR),
        ({"input_wait_share": 0.2}, Status.FOUND),
        ({"samples_per_second": 1000.0, "device_samples_per_second": 2000.0}, Status.SKIPPED),  # of different loops
        ({"input_wait_share": 0.9, "status": "failed"}, Status.SKIPPED),
    ],
)
def test_waiting_for_input(fields, expected):
    plain = changed({f"training.runs[0].{name}": value for name, value in fields.items()})
    assert status(INPUT, plain) is expected


def test_the_profilers_own_word():
    text = "* Your program is HIGHLY input-bound because 68.8% of the total step time sampled is waiting for input."
    assert "68.8%" in named(("input-bound", text, {"degree": "HIGHLY", "percent": "68.8"}))[INPUT].summary
    assert status(INPUT, only_log(("training-progress", "step 1"))) is Status.CLEAR


def test_too_few_processors_explain_a_slow_pipeline():
    assert roots(changed({"limits.cpu_quota": 1.0, "training.runs[0].input_wait_share": 0.5})) == ["cpu-quota-too-low"]


@pytest.mark.parametrize(
    ("precision", "device", "cpu", "expected"),
    [
        ("float32", 2.4101, 2.41, Status.CLEAR),
        ("float32", 2.42, 2.41, Status.CLEAR),
        ("float32", 2.45, 2.41, Status.FOUND),
        ("mixed_bfloat16", 2.45, 2.41, Status.CLEAR),
        ("mixed_bfloat16", 2.8, 2.41, Status.FOUND),
        ("mixed_float16", 2.45, 2.41, Status.FOUND),
        ("float32", 0.0, 0.0, Status.CLEAR),
        ("float32", None, 2.41, Status.SKIPPED),  # not finite: another page
    ],
)
def test_the_device_against_the_cpu(precision, device, cpu, expected):
    fields = {"precision": precision, "loss": {"first": device, "last": 1.5}, "cpu_first_loss": cpu}
    assert status(RESULTS, changed({f"training.runs[0].{name}": value for name, value in fields.items()})) is expected


@pytest.mark.parametrize(
    ("precision", "cpu", "device", "told"),
    [
        ("float32", 2.41, 2.41 * 1.0101, "a loss of 2.4343 in one_device on GPU:0 and of 2.41 on the CPU, 1.01 % apart; up to 1 %"),
        ("mixed_bfloat16", 2.41, 2.41 * 1.051, "2.533 in one_device on GPU:0 in mixed_bfloat16 and of 2.41 on the CPU, 5.1 % apart; up to 5 %"),
        ("float32", 2.41, 3.62, "a loss of 3.62 in one_device on GPU:0 and of 2.41 on the CPU, 50 % apart; up to 1 % is rounding."),
    ],
)  # fmt: skip
def test_what_is_told_is_above_the_limit_that_is_told(precision, cpu, device, told):
    fields = {"precision": precision, "loss": {"first": device, "last": 1.5}, "cpu_first_loss": cpu}
    assert told in found(RESULTS, changed({f"training.runs[0].{name}": value for name, value in fields.items()})).summary


def test_memory_errors_explain_other_results():
    differ = {"training.runs[0].cpu_first_loss": 1.0, "gpus.gpus[0].ecc_uncorrected_volatile": 1}
    assert roots(changed(differ)) == ["ecc-errors"]


NOT_INITIALIZED = ("cuda-error", "Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error", {"code": "3"})


def test_cuda_that_is_not_initialised_in_a_child():
    assert roots(only_log(NOT_INITIALIZED)) == [FORK]
    assert status(FORK, only_log(("cuda-error", "an illegal memory access", {"code": "700"}))) is Status.CLEAR
    first = ("cuinit-failed", "failed call to cuInit: CUDA_ERROR_UNKNOWN", {"code": "999"})
    assert status(FORK, only_log(first, NOT_INITIALIZED)) is Status.CLEAR
    assert roots(only_log(("cuda-used-after-fork", "Cannot re-initialize CUDA in forked subprocess"))) == [FORK]
