"""Links and replicas of several GPUs."""

import pytest
from one_rule import changed, found, only_log, roots, severity, status

from gpucheck.model import Severity, Status

LINK, REPLICAS, NCCL = "nvlink-down", "replica-count-mismatch", "nccl-failed"


def bridged(*up):
    """Eight GPUs without switches, each with so many of four NVLinks connected."""
    plain = changed(name="hgx-h200")
    plain["pci"]["nvswitches"] = []
    plain["gpus"]["gpus"] = plain["gpus"]["gpus"][: len(up)]
    for gpu, count in zip(plain["gpus"]["gpus"], up, strict=True):
        gpu["fabric_state"] = "not-supported"
        gpu["nvlinks"] = [{"link": link, "active": link < count} for link in range(4)]
    return plain


@pytest.mark.parametrize(
    ("up", "expected"),
    [
        ((4, 4), Status.CLEAR),
        ((2, 2), Status.CLEAR),  # one bridge of two
        ((2, 1), Status.FOUND),
        ((0, 0), Status.CLEAR),
        ((2,), Status.SKIPPED),
    ],
)
def test_links_without_a_switch_are_compared_with_their_sisters(up, expected):
    assert status(LINK, bridged(*up)) is expected


def test_every_link_counts_on_a_switched_board():
    plain = changed({f"gpus.gpus[{gpu}].nvlinks[0].active": False for gpu in range(8)}, "hgx-h200")
    finding = found(LINK, plain)
    assert len(finding.affects) == 8
    assert severity(LINK, plain) is Severity.WARNING
    failed = {"training.runs[8].status": "failed", "training.runs[8].reason": "InternalError: NCCL: remote error"}
    assert roots(changed({**failed, "gpus.gpus[1].nvlinks[0].active": False}, "hgx-h200")) == [LINK]


def test_xid_74_in_a_log():
    assert severity(LINK, only_log(("xid", "NVRM: Xid (PCI:0000:3b:00): 74", {"code": "74"}))) is Severity.ERROR
    assert status(LINK, only_log(("xid", "NVRM: Xid (PCI:0000:3b:00): 79", {"code": "79"}))) is not Status.FOUND


def test_a_mirrored_run_that_left_gpus_out():
    few = {"training.runs[8].devices": ["GPU:0", "GPU:1"], "training.runs[8].replicas": 2}
    plain = changed(few, "hgx-h200")
    assert severity(REPLICAS, plain) is Severity.WARNING
    assert "2 of the 8 GPUs" in found(REPLICAS, plain).summary
    for place in range(2, 8):
        plain["training"]["runs"][place]["status"] = "skipped"
    assert status(REPLICAS, plain) is Status.CLEAR  # left out because they could not train alone either


def test_one_gpu_then_two_then_four_are_steps_to_all():
    plain = changed(name="hgx-h200")
    whole = plain["training"]["runs"][8]
    plain["training"]["runs"][8:8] = [{**whole, "devices": whole["devices"][:count], "replicas": count} for count in (1, 2, 4)]
    assert status(REPLICAS, plain) is Status.CLEAR
    del plain["training"]["runs"][11]
    assert "4 of the 8 GPUs" in found(REPLICAS, plain).summary
    assert found(REPLICAS, plain).affects == ("GPU:4", "GPU:5", "GPU:6", "GPU:7")


def test_replicas_are_judged_only_where_mirrored_ran():
    assert status(REPLICAS, changed({"training.runs[1].strategy": "one_device"})) is Status.SKIPPED
    assert status(REPLICAS, changed(name="laptop-cpu")) is Status.CLEAR


def test_nccl_lines_of_runs_that_passed_are_harmless():
    assert (
        status(NCCL, changed({"log.events": [{"kind": "nccl-failed", "line": 1, "text": "NCCL WARN"}]}, "hgx-h200"))
        is Status.CLEAR
    )


def without_nccl(device, status="timed_out", reason="out of time"):
    """Eight devices that do not train together, except with hierarchical copy."""
    plain = changed(name="hgx-h200")
    runs = plain["training"]["runs"]
    runs[8].update(status=status, reason=reason, stage="steps")
    cure = {**runs[8], "status": "passed", "reason": None, "stage": None, "cross_device": "hierarchical_copy"}
    runs.append(cure)
    for run in runs[8:]:
        run["devices"] = [f"{device}:{number}" for number in range(8)]
    return plain


def test_gpus_that_train_together_only_without_nccl():
    finding = found(NCCL, without_nccl("GPU"))
    assert finding.summary == ("mirrored on GPU:0-7 stands still with NCCL, and trains without it (HierarchicalCopyAllReduce).")
    assert "HierarchicalCopyAllReduce())" in finding.fix[0].text
    assert roots(without_nccl("GPU")) == [NCCL]
    failed = without_nccl("GPU", status="failed", reason="InternalError: peer access is lost")
    assert "fails (InternalError: peer access is lost) with NCCL" in found(NCCL, failed).summary


def test_cpus_have_no_nccl_to_blame():
    plain = without_nccl("CPU")
    assert status(NCCL, plain) is Status.CLEAR
    assert "stands still with the usual exchange of gradients" in found("training-failed", plain).summary


def test_no_cure_no_blame():
    plain = without_nccl("GPU")
    plain["training"]["runs"][9]["status"] = "timed_out"
    assert status(NCCL, plain) is Status.CLEAR
