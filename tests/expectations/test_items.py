"""What is expected against recorded machines: met, unmet, and what could not be looked at, which is never met."""

import pytest
from expectations import recorded_reports
from expectations.recorded_reports import ABOVE_QUICK, RULES

from gpucheck.expectations import read
from gpucheck.expectations.gpus import usable_gpus
from gpucheck.expectations.items import Machine
from gpucheck.expectations.versions import ABSENT, versions_seen
from gpucheck.model import Expectations, Verdict

CODES = {rule.code for rule in RULES if rule.row == "expectation"}


def report(text, changes=None, name="h200", quick=False, **request):
    """The report of a recorded machine of which this is expected."""
    expected = read.parse(text, "expected.toml") if text else Expectations()
    without = ABOVE_QUICK if quick else ()
    return recorded_reports.report(changes, name, without=without, level=0 if quick else 1, expectations=expected, **request)


MET = """
[gpu]
count = 1
names = ["NVIDIA H*"]
memory_gib = 140
compute_capability = "9.0"
[versions]
driver = ">=580,<581"
cuda = "==13.*"
cudnn = ">=9.3,<10"
tensorflow = "==2.21.*"
keras = ">=3.15"
python = "==3.12.*"
[training]
strategies = ["one_device", "mirrored"]
max_first_step_seconds = 10
[training.min_samples_per_second]
one_device = 3000
"""

UNMET = [
    ("[gpu]\ncount = 8", {}, "gpu-count-unexpected", "Number of GPUs is 1, where 8 was expected."),
    ("[gpu]\ncount = 1", {"cuda.device_count": 0}, "gpu-count-unexpected", "Number of GPUs is 0, where 1 was expected."),
    ("[gpu]\ncount = 0", {}, "gpu-count-unexpected", "Number of GPUs is 1, where 0 was expected."),
    ('[gpu]\nnames = "NVIDIA H100*"', {}, "gpu-model-unexpected", "GPU 0: NVIDIA H200, where NVIDIA H100* was expected."),
    ('[gpu]\nnames = "NVIDIA H20"', {}, "gpu-model-unexpected", "GPU 0: NVIDIA H200, where NVIDIA H20 was expected."),
    ("[gpu]\nmemory_gib = 141", {}, "gpu-model-unexpected", "GPU 0: 140.4 GiB of memory, where at least 141 GiB of memory was expected."),
    ('[gpu]\ncompute_capability = "10.0"', {}, "gpu-model-unexpected", "compute capability 9.0, where compute capability 10.0 or higher"),
    ('[versions]\ndriver = ">=590"', {}, "version-unexpected", "The NVIDIA driver is 580.159.04, where >=590 was expected."),
    ('[versions]\ncuda = ">=13.1"', {}, "version-unexpected", "The driver's CUDA is 13.0, where >=13.1 was expected."),
    ('[versions]\ncudnn = ">=9.8"', {}, "version-unexpected", "cuDNN is 9.3.0.75, where >=9.8 was expected."),
    ('[versions]\npython = "<3.12"\nkeras = "<3"', {}, "version-unexpected", "Keras is 3.15.1, where <3 was expected; Python is 3.12.3"),
    ('[versions]\nkeras = ">=3"', {"packages.keras": None, "keras": None}, "version-unexpected", "Keras is absent, where >=3 was expected."),
    ("[training]\nmax_first_step_seconds = 2", {}, "training-unexpected", "The first step of one_device in float32: 4.4 s, where at most 2 s"),
    ("[training.min_samples_per_second]\nmirrored = 4000", {}, "training-unexpected", "Strategy mirrored in float32: 3,650 samples/s, where at least 4,000"),
]  # fmt: skip


def test_a_machine_that_is_what_was_expected():
    got = report(MET)
    assert (got.verdict, got.exit_code, got.findings, got.unknown_because) == (Verdict.PASS, 0, (), ())
    assert {one.code: one.status.value for one in got.outcomes if one.code in CODES} == dict.fromkeys(CODES, "clear")


@pytest.mark.parametrize(("text", "changes", "code", "words"), UNMET, ids=[one[0] for one in UNMET])
def test_what_is_not_met_is_a_fault_of_its_own(text, changes, code, words):
    got = report(text, changes)
    (finding,) = [one for one in got.findings if one.row == "expectation"]
    assert finding.code == code
    assert words in finding.summary
    assert finding.summary.startswith(words[:5]) or not words[0].isupper()
    assert finding.evidence
    assert finding.fix
    assert (got.verdict, got.exit_code) == (Verdict.FAIL, 1)


UNSEEN = [
    ("[training.min_samples_per_second]\none_device = 1", {}, "not looked at with --quick"),
    ('[training]\nstrategies = ["mirrored"]', {}, "strategy mirrored (a pass): not looked at with --quick"),
    ("[training]\nmax_first_step_seconds = 9", {}, "not looked at with --quick"),
    ("[gpu]\ncount = 1", {"cuda": None, "gpus.gpus": []}, "number of GPUs (1): the probe cuda gave no answer"),
    ('[versions]\nkeras = ">=3"', {"packages": None}, "Keras (>=3): its version could not be seen"),
    ('[versions]\ndriver = ">=3"', {"driver.version": None}, "the NVIDIA driver (>=3): its version could not be seen"),
    ('[versions]\npython = ">=3"', {"interpreter.version": "built by hand"}, "no version that can be compared"),
    ("[gpu]\nmemory_gib = 1", {"gpus.gpus[0].memory_total_bytes": None}, "GPU 0 (at least 1 GiB of memory): unknown"),
]


@pytest.mark.parametrize(("text", "changes", "words"), UNSEEN, ids=[one[0] for one in UNSEEN])
def test_what_could_not_be_looked_at_is_unknown_and_never_met(text, changes, words):
    got = report(text, changes, quick=True)
    assert got.verdict is Verdict.UNKNOWN
    assert got.exit_code == 3
    assert any(words in reason for reason in got.unknown_because), got.unknown_because


def test_a_strategy_that_was_not_tried_is_unknown():
    got = report('[training]\nstrategies = ["multi_worker_mirrored"]')
    assert (got.verdict, got.exit_code) == (Verdict.UNKNOWN, 3)
    assert "multi_worker_mirrored (a pass): no such training job" in got.unknown_because[0]


@pytest.mark.parametrize("status", ["skipped", "timed_out"])
def test_a_strategy_that_was_skipped_or_ran_out_of_time_is_unknown(status):
    got = report(
        '[training]\nstrategies = ["mirrored"]', {"training.runs[1].status": status, "training.runs[1].reason": "no room"}
    )
    assert (got.verdict, got.exit_code) == (Verdict.UNKNOWN, 3)
    assert "expected, and not seen: strategy mirrored (a pass): no room" in got.unknown_because


def test_a_failed_strategy_is_explained_by_what_made_it_fail():
    got = report(
        '[training]\nstrategies = ["mirrored"]', {"training.runs[1].status": "failed", "training.runs[1].reason": "Boom"}
    )
    found = {one.code: one.explained_by for one in got.findings}
    assert found["training-unexpected"] == "training-failed"
    assert got.findings[0].code == "training-failed"


def test_what_is_broken_comes_before_what_is_different():
    got = report(
        "[gpu]\ncount = 8", {"tensorflow.built_with_cuda": False, "tensorflow.devices": [{"name": "CPU:0", "kind": "CPU"}]}
    )
    assert len(got.findings) > 1
    assert got.findings[0].row != "expectation"
    assert [one.code for one in got.findings if one.explained_by is None][-1] == "gpu-count-unexpected"


def test_every_gpu_and_every_job_must_meet_it():
    got = report(
        '[gpu]\nnames = "NVIDIA H200"\n[training.min_samples_per_second]\none_device = 3000',
        {"gpus.gpus[5].name": "NVIDIA H100", "training.runs[3].samples_per_second": 1000.0},
        name="hgx-h200",
    )
    found = {one.code: one for one in got.findings}
    assert found["gpu-model-unexpected"].affects == ("GPU 5",)
    assert found["training-unexpected"].affects == ("GPU:3",)


def test_no_expectations_are_no_gap():
    got = recorded_reports.report()
    assert (got.verdict, got.unknown_because) == (Verdict.PASS, ())
    assert {one.reason for one in got.outcomes if one.code in CODES} == {"no expectations were given"}


def test_an_empty_table_changes_nothing():
    assert report("").verdict is Verdict.PASS


def test_without_a_driver_there_are_no_gpus_and_no_versions_of_it():
    cpu = Machine.of(report("", name="laptop-cpu"))
    assert usable_gpus(cpu)[0] == 0
    found = versions_seen(cpu)
    assert (found["driver"], found["cuda"]) == (ABSENT, ABSENT)


MUTE = '[[mute]]\ncode = "gpu-count-unexpected"\nreason = "GPU 7 is being exchanged"\nuntil = {}\n'


def test_a_muted_finding_stays_and_does_not_count():
    got = report("[gpu]\ncount = 8\n" + MUTE.format("2999-12-31"))
    (finding,) = got.findings
    assert finding.muted == "GPU 7 is being exchanged until 2999-12-31"
    assert (got.verdict, got.exit_code) == (Verdict.PASS, 0)


def test_a_mute_that_is_over_counts_again_and_says_so():
    got = report("[gpu]\ncount = 8\n" + MUTE.format("2020-01-01"))
    (finding,) = got.findings
    assert (finding.muted, finding.mute_expired) == (None, "GPU 7 is being exchanged until 2020-01-01")
    assert got.verdict is Verdict.FAIL


WARNING = {"gpus.gpus[0].persistence_mode": False, "limits.kernel_cache_writable": False}


def test_allowed_warnings_keep_strict_from_failing():
    plain = report("", WARNING, strict=True)
    warned = {one.code for one in plain.findings}
    assert warned
    assert (plain.verdict, plain.exit_code) == (Verdict.WARN, 1)
    allowed = report(f"allowed_warnings = {sorted(warned)}", WARNING, strict=True)
    assert (allowed.verdict, allowed.exit_code) == (Verdict.WARN, 0)
    other = report('allowed_warnings = ["gpu-throttled"]', WARNING, strict=True)
    assert other.exit_code == 1


def test_an_error_cannot_be_allowed():
    got = report('allowed_warnings = ["gpu-count-unexpected"]\n[gpu]\ncount = 8', strict=True)
    assert got.exit_code == 1
