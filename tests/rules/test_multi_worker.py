"""Several workers: what TF_CONFIG says, who answers, which versions they run, and what Keras 3 cannot do."""

import pytest
from one_rule import changed, found, log, only_log, outcome, roots, severity, status

from gpucheck.model import Severity, Status

CONFIG, GONE, SKEW, FIT = "tf-config-malformed", "worker-unreachable", "worker-version-skew", "multi-worker-fit-unsupported"
TWO = {"configured": True, "task_type": "worker", "task_index": 0, "jobs": {"worker": 2}, "worker_count": 2}


def cluster(quick=False, **more):
    return changed({"cluster": {**TWO, **more}}, quick=quick)


def worked(run=1, **fields):
    return changed(
        {
            f"training.runs[{run}].strategy": "multi_worker_mirrored",
            **{f"training.runs[{run}].{name}": value for name, value in fields.items()},
        }
    )


@pytest.mark.parametrize("quick", [True, False])
def test_a_good_configuration_raises_nothing(quick):
    assert roots(cluster(quick)) == []
    assert roots(changed({"cluster": {"configured": False}}, quick=quick)) == []


@pytest.mark.parametrize("quick", [True, False])
def test_a_bad_configuration(quick):
    plain = cluster(
        quick, problems=["this task is worker 2, and the cluster has 2 of them (counted from 0)", "another", "a third"]
    )
    assert roots(plain) == [CONFIG]
    assert found(CONFIG, plain).summary.endswith("(counted from 0) (and 2 more problems).")


def test_a_bad_configuration_explains_the_silence_of_others():
    plain = cluster(
        problems=["worker 0 and worker 1 have the same address"],
        tested=1,
        unreachable=[{"task": "worker 1", "reason": "timed out"}],
    )
    assert roots(plain) == [CONFIG]


def test_a_log_that_complains_of_the_configuration():
    event = ("tf-config-malformed", "long line", {"message": "The `task_id` 2 exceeds the maximum id of worker."})
    assert "exceeds the maximum id of worker." in found(CONFIG, only_log(event)).summary
    assert status(CONFIG, only_log(event, ("training-progress", "step 100"))) is Status.CLEAR
    assert status(CONFIG, {}) is Status.SKIPPED


def test_workers_are_not_called_reachable_unless_tried():
    assert status(GONE, cluster()) is Status.SKIPPED
    assert "--full" in outcome(GONE, cluster()).outcome.reason
    assert status(GONE, cluster(tested=1)) is Status.CLEAR
    assert status(GONE, changed()) is Status.CLEAR


def test_several_silent_workers():
    missing = [
        {"task": f"worker {index}", "reason": reason}
        for index, reason in enumerate(["timed out", "timed out", "no such name", "timed out"], 1)
    ]
    finding = found(GONE, cluster(tested=7, unreachable=missing))
    assert (
        finding.summary
        == "worker 1, worker 2 and 2 more, which TF_CONFIG names, can't be reached from here: timed out and no such name."
    )
    assert finding.affects == ("worker 1", "worker 2", "worker 3", "worker 4")


def test_a_worker_that_never_answers_in_a_log():
    waiting = (
        "worker-unreachable",
        "CreateSession still waiting for response from worker: /job:worker/replica:0/task:3",
        {"address": "/job:worker/replica:0/task:3"},
    )
    assert roots(only_log(waiting)) == [GONE]
    assert roots(only_log(waiting, ("training-progress", "step 100"))) == []
    assert roots(only_log(waiting, ("nccl-failed", "NCCL WARN Connect to 10.0.0.5 failed"))) == [GONE]


def test_a_port_that_is_taken():
    finding = found(GONE, only_log(("worker-address-in-use", "Could not start gRPC server")))
    assert finding.summary.startswith("This worker can't listen on its address")
    assert "ss -ltnp" in finding.fix[0].text


def test_a_job_of_several_workers_that_lost_one():
    reason = "UnavailableError: failed to connect to all addresses"
    assert roots(worked(status="failed", reason=reason)) == [GONE]
    alone = {"training.runs[0].status": "failed", "training.runs[0].reason": reason}
    assert status(GONE, changed(alone)) is not Status.FOUND


def fault(how, reason, worker="worker 1", stage="step 5"):
    return {"worker": worker, "how": how, "reason": reason, "stage": stage}


def lost(*faults, **fields):
    reason = "; ".join(f"{one['worker']}: {one['reason']}" for one in faults)
    return worked(status="failed", reason=reason, stage=faults[0]["stage"], worker_faults=list(faults), **fields)


@pytest.mark.parametrize(
    ("one", "summary", "fix"),
    [
        (fault("stood still", "stood still for 30 s"), "does not answer: stood still for 30 s in stage step 5.", "printed last"),
        (fault("missing", "did not come (timed out)"), "does not answer: did not come (timed out).", "Start it on every worker"),
        (fault("no answer", "it is mute"), "does not answer: it is mute.", "ss -ltnp"),
        (fault("other program", "x"), "is not there: another program answers on its address.", "ss -ltnp"),
        (fault("apart", "x"), "is there, and yet the cluster did not form.", "the same cluster"),
        (
            fault("lost", "UnavailableError: gone", stage="connect"),
            "does not answer: UnavailableError: gone.",
            "nc -zv",
        ),
        (
            fault("lost", "UnavailableError: failed to connect to all addresses", stage="meet"),
            "came, and then could not be connected to at the address that this worker has for it.",
            "the same cluster",
        ),
        (
            fault("lost", "UnavailableError: stopped sending heartbeats", stage="meet"),
            'ended or stopped answering when all had come together, at the stage "meet".',
            "printed last",
        ),
        (
            fault("lost", "UnavailableError: Collective ops is aborted by: Socket closed"),
            'ended or stopped answering when all had come together, at the stage "step 5".',
            "printed last",
        ),
        (
            fault("port taken", "the port is taken"),
            "can't listen on its address, so no other reaches it: the port is taken.",
            "ss -ltnp",
        ),
    ],
)
def test_the_worker_that_is_waited_for_in_vain(one, summary, fix):
    plain = lost(one)
    assert roots(plain) == [GONE]
    finding = found(GONE, plain)
    assert finding.summary == f"worker 1 of multi_worker_mirrored {summary}"
    assert finding.affects == ("worker 1",)
    assert fix in finding.fix[0].text


def test_two_workers_that_stand_still():
    both = [fault("stood still", "stood still for 30 s", f"worker {index}") for index in (0, 1)]
    assert found(GONE, lost(*both)).summary.startswith("worker 0 and worker 1 of multi_worker_mirrored do not answer: ")


def test_those_for_whom_others_answer_are_named_before_those_that_did_not_come():
    plain = lost(fault("missing", "did not come (timed out)"), fault("other program", "x", "worker 2"))
    finding = found(GONE, plain)
    assert finding.summary.startswith("worker 2 of multi_worker_mirrored is not there: ")
    assert finding.affects == ("worker 2", "worker 1")


def test_a_worker_that_another_looks_for_elsewhere():
    """Who is not named says that it was not reached: one of two that differ over a port."""
    reason = "UnavailableError: Collective ops is aborted by: failed to connect to all addresses"
    finding = found(GONE, lost(fault("raised", reason, stage="meet")))
    assert finding.summary == "Another worker came, and then one could not be connected to at its address."
    assert "the same cluster" in finding.fix[0].text


def test_a_worker_that_died_or_raised_is_no_silent_one():
    assert roots(lost(fault("ended", "killed by SIGKILL"))) == ["training-crashed"]
    assert roots(lost(fault("ended", "ended without a word"))) == ["training-failed"]
    raised = lost(fault("raised", "ValueError: no such sample"))
    assert roots(raised) == ["training-failed"]
    assert found("training-failed", raised).affects == ("worker 1",)
    crashed = found("training-crashed", lost(fault("ended", "exited with status 3")))
    assert crashed.summary == 'worker 1 of multi_worker_mirrored crashed at the stage "step 5": exited with status 3.'


def test_other_versions_explain_a_worker_that_went_away():
    versions = [{"tensorflow": "2.21.0"}, {"tensorflow": "2.15.1"}]
    gone = fault("lost", "UnavailableError: heartbeat timeout")
    assert roots(lost(gone, worker_versions=versions)) == [SKEW]


VERSIONS = [{"tensorflow": "2.21.0", "cudnn": "9.3", "driver": "580.1"}] * 3


def test_equal_workers():
    assert status(SKEW, worked(worker_versions=VERSIONS)) is Status.CLEAR
    assert status(SKEW, worked(worker_versions=[*VERSIONS, {}])) is Status.CLEAR
    assert status(SKEW, worked(worker_versions=VERSIONS[:1])) is Status.CLEAR


def test_the_odd_worker_is_named():
    odd = {"tensorflow": "2.20.0", "cudnn": "9.3", "driver": "575.1"}
    plain = worked(worker_versions=[VERSIONS[0], odd, *VERSIONS[1:]])
    finding = found(SKEW, plain)
    assert (
        finding.summary == "The workers of one job differ: tensorflow is 2.21.0 on worker 0 and 2.20.0 on worker 1; driver too."
    )
    assert finding.affects == ("worker 1",)
    assert severity(SKEW, plain) is Severity.ERROR


def test_another_driver_alone_is_a_warning():
    plain = worked(worker_versions=[VERSIONS[0], {**VERSIONS[0], "driver": "575.1"}])
    assert severity(SKEW, plain) is Severity.WARNING
    assert roots(plain) == [SKEW]


def test_another_patch_of_python_is_a_warning():
    plain = worked(worker_versions=[{"python": "3.11.2"}, {"python": "3.11.7"}])
    assert severity(SKEW, plain) is Severity.WARNING


def test_a_chief_has_its_own_name():
    plain = worked(worker_names=["chief 0", "worker 0"], worker_versions=[{"keras": "3.1"}, {"keras": "3.2"}])
    assert found(SKEW, plain).summary == "The workers of one job differ: keras is 3.1 on chief 0 and 3.2 on worker 0."


def test_nccl_versions_in_a_log():
    skew = ("worker-version-skew", "NCCL WARN NET/Socket : mismatched NCCL version", {"message": "mismatched NCCL version"})
    assert roots(only_log(skew, ("nccl-failed", "NCCL error: internal error"))) == [SKEW]


PER_REPLICA = "ValueError: Attempt to convert a value (PerReplica:{"


def test_fit_under_several_workers():
    assert roots(only_log(("multi-worker-fit-unsupported", PER_REPLICA))) == [FIT]
    plain = worked(status="failed", reason=PER_REPLICA)
    assert roots(plain) == [FIT]
    assert "tf_keras==2.21.*" in found(FIT, plain).fix[1].command


def test_whether_the_program_calls_fit_is_not_guessed():
    assert status(FIT, cluster()) is Status.SKIPPED
    assert status(FIT, changed()) is Status.CLEAR
    assert status(FIT, changed({"cluster": TWO, "keras.backend": "jax"})) is Status.CLEAR


@pytest.mark.parametrize(("tried", "expected"), [(True, Status.CLEAR), (False, Status.FOUND)])
def test_who_does_not_answer_when_a_tpu_is_tried_is_the_tpu(tried, expected):
    unanswered = log(("worker-unreachable", "Additional GRPC error information from remote target /job:worker/replica:0/task:0"))
    seen = {"log": unanswered, "training": {}, "tpu_resolver": {"tried": tried, "connected": False if tried else None}}
    assert status(GONE, changed(seen, "laptop-cpu")) is expected
