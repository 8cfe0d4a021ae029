"""What is different between two looks, by what it may break."""

import functools

import pytest
from expectations import recorded_reports
from fakes import machine

from gpucheck.expectations import drift, read

report = functools.partial(recorded_reports.report, rules=())


def changes(new, old=None):
    found = drift.between(old or report(), new, "then", "now")
    return [(one.group, one.what, one.old, one.new) for one in found.changes]


CASES = [
    ({"driver.version": "570.10"}, ("driver and CUDA", "NVIDIA driver", "580.159.04", "570.10")),
    ({"cuda.driver_version": "12.8"}, ("driver and CUDA", "the driver's CUDA", "13.0", "12.8")),
    ({"packages.keras.version": "3.14.0"}, ("TensorFlow and Keras", "Keras", "3.15.1", "3.14.0")),
    ({"packages.keras": None}, ("TensorFlow and Keras", "Keras", "3.15.1", None)),
    ({"keras.backend": "jax"}, ("TensorFlow and Keras", "Keras backend", "tensorflow", "jax")),
    ({"tensorflow.devices": [{"name": "CPU:0", "kind": "CPU"}]}, ("TensorFlow and Keras", "devices that TensorFlow lists", "1 × CPU, 1 × GPU", "1 × CPU")),
    ({"libraries.libraries[0].path": None}, ("libraries", "libcudart.so.12", "12.5.82 from RUNPATH", "not found")),
    ({"packages.nvidia[0].version": "12.6"}, ("libraries", "nvidia-cublas-cu12", "12.5.3.2", "12.6")),
    ({"interpreter.version": "3.13.0"}, ("Python and packages", "Python", "3.12.3", "3.13.0")),
    ({"packages.others[0].version": "1.26"}, ("Python and packages", "numpy", "2.3.5", "1.26")),
    ({"gpus.gpus": []}, ("hardware", "GPUs that the driver counts", "1", "0")),
    ({"gpus.gpus[0].pcie_width_max": 8}, ("hardware", "GPU 0 PCIe lanes", "16", "8")),
    ({"gpus.gpus[0].ecc_enabled": False}, ("hardware", "GPU 0 ECC", "yes", "no")),
    ({"environment.variables.TF_XLA_FLAGS": "--x"}, ("environment variables", "TF_XLA_FLAGS", None, '"--x"')),
    ({"limits.shared_memory_total_bytes": 67108864}, ("limits", "/dev/shm", "128 GiB", "0.0625 GiB")),
    ({"limits.cpu_quota": 2.0}, ("limits", "processors granted by the control group", None, "2.0")),
    ({"training.runs[0].samples_per_second": 1000.0}, ("training speed", "one_device on GPU:0 in float32, samples/s", "3,650", "1,000")),
    ({"training.runs[0].status": "failed"}, ("training speed", "one_device on GPU:0 in float32", "passed", "failed")),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), CASES, ids=[next(iter(one)) for one, _ in CASES])
def test_one_difference_is_named_with_its_group(change, expected):
    assert expected in changes(report(change))


@pytest.mark.parametrize("name", ["h200", "hgx-h200", "laptop-cpu", "tpu-v5e"])
def test_the_same_machine_has_no_drift(name):
    assert changes(report(name=name), report(name=name)) == []


PASSING = {
    "gpus.gpus[0].temperature_celsius": 80,
    "gpus.gpus[0].memory_free_bytes": 1,
    "gpus.gpus[0].sm_clock_mhz": 1980,
    "gpus.gpus[0].pcie_generation": 1,
    "limits.memory_available_bytes": 5,
    "environment.variables.SLURM_JOB_ID": "17",
    "environment.variables.VIRTUAL_ENV": "/elsewhere",
    "interpreter.prefix": "/elsewhere",
    "training.runs[0].samples_per_second": 3000.0,
    "training.runs[0].first_step_seconds": 6.0,
}


@pytest.mark.parametrize("path", PASSING)
def test_what_a_run_changes_by_itself_is_no_drift(path):
    assert changes(report({path: PASSING[path]})) == []


def test_order_is_that_of_the_groups_and_each_says_why():
    found = drift.between(
        report(), report({"limits.open_files": 5, "driver.version": "1", "packages.keras.version": "1"}), "then", "now"
    )
    assert [one.group for one in found.changes] == ["driver and CUDA", "TensorFlow and Keras", "limits"]
    assert all(one.why == drift.GROUPS[one.group] and one.why.endswith(".") for one in found.changes)


def test_what_was_not_asked_for_is_not_compared():
    found = drift.between(report(), report(without=("tensorflow", "keras", "training")), "then", "now")
    assert found.changes == ()
    assert "training: not looked at with --quick" in found.not_compared


def test_what_cannot_be_seen_any_more_is_drift():
    found = drift.between(report(), report(failed=("gpus",)), "then", "now")
    assert [(one.group, one.new) for one in found.changes] == [("hardware", "none: did not answer within 9 s")]


def test_what_only_the_second_saw_is_not_compared():
    found = drift.between(report(without=("training",)), report(), "then", "now")
    assert (found.changes, found.not_compared) == ((), ("training: not in then",))


def test_expectations_as_a_baseline():
    wanted = read.parse('[gpu]\ncount = 8\n[versions]\nkeras = "<3"\npython = ">=3"\n[training]\nstrategies = ["tpu"]', "e.toml")
    found = drift.from_expectations(wanted, report(), "e.toml", "now")
    assert [(one.group, one.what, one.old, one.new) for one in found.changes] == [
        ("TensorFlow and Keras", "Keras", "<3", "3.15.1"),
        ("hardware", "number of GPUs", "8", "1"),
    ]
    assert found.not_compared == ("strategy tpu (a pass): no such training job",)


def test_every_group_can_be_reached():
    assert {group for _, (group, *_) in CASES} == set(drift.GROUPS)


PTXAS = ("libraries.ptxas", {"path": "/usr/local/cuda/bin/ptxas", "version": "12.5.82", "elsewhere": []})
UNASKED = ("libraries.ptxas", {**PTXAS[1], "version": None})


@pytest.mark.parametrize(("old", "new"), [(PTXAS, UNASKED), (UNASKED, PTXAS)], ids=["then", "now"])
def test_a_version_that_only_one_looked_at_is_not_compared(old, new):
    found = drift.between(report(dict([old])), report(dict([new])), "then", "now")
    assert found.changes == ()
    assert found.not_compared == ("ptxas: only one of the two knows its version",)
    gone = {"libraries.ptxas": {"path": None, "version": None, "elsewhere": []}}
    assert changes(report(gone), report(dict([old]))) == [
        ("libraries", "ptxas", "12.5.82" if old is PTXAS else "found", "not found")
    ]


def test_a_librarys_unknown_version_is_not_compared_but_its_place_is():
    unknown = {"libraries.libraries[0].version": None}
    assert changes(report(unknown)) == []
    moved = {**unknown, "libraries.libraries[0].source": "LD_LIBRARY_PATH"}
    assert changes(report(moved)) == [
        ("libraries", "libcudart.so.12", "12.5.82 from RUNPATH", "found from LD_LIBRARY_PATH"),
    ]


@pytest.mark.parametrize(
    ("speed", "words"), [(9000.0, "2.5 times as fast"), (1000.0, "27 % of the speed"), (0.0, "0 % of the speed")]
)
def test_a_speed_says_its_direction(speed, words):
    found = drift.between(report(), report({"training.runs[0].samples_per_second": speed}), "then", "now")
    assert [one.note for one in found.changes] == [words]
    assert "longer" not in drift.GROUPS["training speed"]


def test_a_speed_within_a_factor_of_two_is_no_difference():
    for speed in (1900.0, 7000.0):
        assert changes(report({"training.runs[0].samples_per_second": speed})) == []


def test_speeds_of_a_cpu_are_not_compared():
    slow = report({"training.runs[0].samples_per_second": 1.0}, name="laptop-cpu")
    found = drift.between(report(name="laptop-cpu"), slow, "then", "now")
    assert found.changes == ()
    assert found.not_compared == ("training speed on the CPU: it is what other processes leave of it",)


def test_devices_of_a_job_are_named_as_in_every_report():
    made = report({"training.runs[0].devices": ["CPU:0", "CPU:0"], "training.runs[0].status": "failed"})
    new = report({"training.runs[0].devices": ["CPU:0", "CPU:0"]})
    assert ("training speed", "one_device on 2 × CPU:0 in float32", "failed", "passed") in changes(new, made)


def test_jobs_that_only_one_of_the_two_trained_are_not_compared():
    more = {**machine("h200")["training"]["runs"][0], "precision": "mixed_float16"}
    full = report({"training.runs": [*machine("h200")["training"]["runs"], more]})
    for old, new, where in ((full, report(), "then"), (report(), full, "now")):
        found = drift.between(old, new, "then", "now")
        assert found.changes == ()
        assert found.not_compared == (f"one_device on GPU:0 in mixed_float16: trained in {where} only",)
