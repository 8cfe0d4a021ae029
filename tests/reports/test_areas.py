"""One line per area."""

import pytest
from reports.builders import PASSED, found, report, rule

from gpucheck.model import Evidence, ProbeStatus, Severity
from gpucheck.reports.shared.areas import areas


def told(made):
    return {area.name: (area.state, area.words) for area in areas(made)}


def blame(fact, severity=Severity.ERROR):
    return found(rule("blamed", severity), summary="It.", evidence=(Evidence(fact=fact, field="x", value=1),))


def test_order_and_names():
    names = ["system", "driver", "gpus", "cuda", "libraries", "tensorflow", "keras", "training"]
    assert list(told(report("h200"))) == names
    assert list(told(report("h200", [("tpu.expected", True)]))) == [*names, "tpu"]


def test_healthy_machine_is_ok_everywhere():
    assert {state for state, _ in told(report("h200")).values()} == {"ok"}


@pytest.mark.parametrize(
    ("fact", "area"),
    [
        ("limits", "system"),
        ("device_nodes", "driver"),
        ("pci", "gpus"),
        ("cuda", "cuda"),
        ("packages", "tensorflow"),
        ("log", "tensorflow"),
    ],
)
def test_the_area_of_the_first_evidence_is_blamed(fact, area):
    states = told(report("h200", judgements=[blame(fact)]))
    assert [name for name, (state, _) in states.items() if state != "ok"] == [area]
    assert states[area][0] == "FAIL"
    assert states[area][1].endswith("; see blamed")
    assert told(report("h200", judgements=[blame(fact, Severity.WARNING)]))[area][0] == "WARN"


def test_what_looks_broken_is_only_blamed_where_a_finding_says_so():
    changes = [("keras.imported", False), ("keras.error_type", "ImportError"), ("keras.error", "no ml_dtypes")]
    words = "not imported: ImportError: no ml_dtypes"
    assert told(report("laptop-cpu", changes))["keras"] == ("–", words)
    assert told(report("laptop-cpu", changes, [blame("limits")]))["keras"] == ("–", words)
    assert told(report("laptop-cpu", changes, [blame("keras")]))["keras"] == ("FAIL", words)


@pytest.mark.parametrize(
    ("path", "value", "area", "words"),
    [
        ("driver", {"status": "failed", "result_name": "NVML_ERROR_DRIVER_NOT_LOADED"}, "driver", "NVML_ERROR_DRIVER_NOT_LOADED"),
        ("driver", {"status": "hung"}, "driver", "NVML: hung"),
        ("cuda.device_count", 0, "cuda", "0 devices, CUDA 13.0"),
        ("cuda", {"status": "crashed"}, "cuda", "cuInit: crashed"),
        ("libraries.libraries[0].problem", "truncated", "libraries", "6 of the 7 that TensorFlow opens; not libcudart.so.12"),
        ("libraries.libraries[0].opened", False, "libraries", "6 of the 7 that TensorFlow opens; not libcudart.so.12"),
        ("tensorflow.devices", None, "tensorflow", "device list not reached: no answer"),
        ("tensorflow.imported", False, "tensorflow", "import failed: no reason given"),
        ("tensorflow.devices", [], "tensorflow", "lists 0 of 1 GPUs"),
        ("training.runs", [{**PASSED, "status": "failed"}], "training", "one_device GPU:0 failed"),
    ],
)
def test_words_for_what_is_broken(path, value, area, words):
    assert told(report("h200", [(path, value)], [blame("limits")]))[area] == ("FAIL", words)


@pytest.mark.parametrize(
    ("path", "value", "area", "words"),
    [
        ("libraries", {}, "libraries", "no TensorFlow installed"),
        ("training.runs", [], "training", "nothing was trained: no run was possible"),
        ("training.runs", [{**PASSED, "status": "timed_out"}], "training", "one_device GPU:0 out of time"),
        ("training.runs", [{**PASSED, "devices": ["CPU:0"]}], "training", "one_device CPU:0 passed"),
        ("keras.imported", None, "keras", "not imported: no answer"),
    ],
)
def test_words_for_what_was_not_looked_at(path, value, area, words):
    assert told(report("h200", [(path, value)]))[area] == ("–", words)


def test_a_probe_without_a_fact_gives_its_reason():
    late = {"driver": (ProbeStatus.FAILED, "OSError: no", 1.0), "gpus": (ProbeStatus.FAILED, None, 1.0)}
    states = told(report("h200", late=late))
    assert states["driver"] == ("–", "OSError: no")
    assert states["gpus"] == ("–", "no answer")


BACKEND = {"name": "jax", "source": "--backend", "imported": True, "version": "0.10.2"}


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ({**BACKEND, "devices": [{"name": "GPU:0", "kind": "GPU"}]}, ("ok", "JAX 0.10.2 lists 1 of 1 GPUs")),
        ({**BACKEND, "devices": [{"name": "CPU:0", "kind": "CPU"}]}, ("FAIL", "JAX 0.10.2 lists 0 of 1 GPUs")),
        ({"name": "torch", "source": "x", "imported": False, "error": "no torch"}, ("FAIL", "PyTorch: no torch")),
        ({**BACKEND, "imported": None, "ending": "timed out"}, ("–", "JAX 0.10.2: timed out")),
    ],
)
def test_the_backend_below_keras(fact, expected):
    assert told(report("h200", [("backend", fact)], [blame("limits")]))["backend"] == expected


def test_tensorflow_as_backend_has_its_own_area():
    assert "backend" not in told(report("h200"))


def test_keras_names_where_its_backend_came_from():
    states = told(report("h200", [("keras.backend", "jax"), ("keras.backend_source", "KERAS_BACKEND")]))
    assert states["keras"][1] == "3.15.1 on jax (from KERAS_BACKEND)"


@pytest.mark.parametrize(
    ("resolver", "expected"),
    [
        ({"tried": True, "connected": True, "devices": 4}, ("ok", "4 × TPU v5e; TensorFlow lists 4 devices")),
        ({"tried": True, "connected": False, "error": "busy"}, ("FAIL", "4 × TPU v5e; not connected: busy")),
        ({"tried": False, "reason": "no network"}, ("–", "4 × TPU v5e; not connected: no network")),
    ],
)
def test_tpu(resolver, expected):
    changes = [("tpu.expected", True), ("tpu.generations", ["v5e"] * 4), ("tpu_resolver", resolver)]
    assert told(report("h200", changes, [blame("limits")]))["tpu"] == expected
