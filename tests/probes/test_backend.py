"""Which child is asked, and what it says: TensorFlow's, or that of another Keras backend."""

import pytest
from fakes import FakeChild, FakeHost

from gpucheck.model import Level, Request
from gpucheck.probes import backend, keras, log, tpu_resolver, training

DEVICES = [{"name": "GPU:0", "kind": "GPU", "description": "NVIDIA H200", "compute_capability": [9, 0]}]
RUN = {"strategy": "one_device", "devices": ["GPU:0"], "precision": "float32", "compiled": True, "backend": "jax"}
STAGES = {
    "import": {"imported": True, "import_seconds": 0.8, "version": "0.10.2", "path": "/x/jax", "built_with_cuda": True},
    "devices": {"devices": DEVICES, "problem": None},
    "keras": {"imported": True, "version": "3.15.1", "backend": "jax", "backend_source": "KERAS_BACKEND", "legacy": False},
    "plan": [{**RUN, "skip": None, "stage": "train a"}, {**RUN, "skip": "no room", "stage": "train b"}],
    "train a": {**RUN, "replicas": 1, "status": "passed"},
}
TOLD = FakeChild({"backend": {"name": "jax", "source": "KERAS_BACKEND"}, "import": {"imported": False}}, log="framework\n")


def host(other=None, *, told=True, **request):
    """A machine whose Keras is told to run on JAX, by the environment or by the option."""
    children = {"backend": other or FakeChild(STAGES, log="backend\n")}
    if told:
        children["framework"] = TOLD
    return FakeHost(children=children, request=Request(**({} if told else {"backend": "jax"}), **request))


@pytest.mark.parametrize(("told", "source"), [(True, "KERAS_BACKEND"), (False, "--backend")])
def test_the_other_child_tells_of_the_backend_and_of_keras(told, source):
    fact = backend.read(host(told=told))
    assert (fact.name, fact.source, fact.version, fact.built_with_cuda, fact.other) == ("jax", source, "0.10.2", True, True)
    assert (fact.devices[0].description, fact.devices[0].compute_capability) == ("NVIDIA H200", (9, 0))
    spoken = keras.read(host(told=told))
    assert (spoken.backend, spoken.backend_source) == ("jax", source)


@pytest.mark.parametrize(
    "children",
    [{}, {"framework": FakeChild({"backend": {"name": "tensorflow", "source": "default"}})}, {"framework": FakeChild()}],
    ids=["not started", "told", "silent"],
)
def test_tensorflow_needs_no_second_child(children):
    fact = backend.read(FakeHost(children=children))
    assert (fact.name, fact.source, fact.imported, fact.other) == ("tensorflow", "default", None, False)


def test_a_backend_that_cannot_train_is_left_to_tensorflows_child():
    child = FakeChild({"backend": {"name": "numpy", "source": "KERAS_BACKEND"}, "plan": []})
    assert backend.read(FakeHost(children={"framework": child})).other is False
    assert training.read(FakeHost(children={"framework": child})).runs == ()


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        (FakeChild(how="timed out", stage="import"), (None, "timed out", "timed out")),
        (FakeChild(how="killed by SIGILL", stage="import"), (False, "killed by SIGILL", "killed by SIGILL")),
        (FakeChild({"import": {"imported": False, "error": "no jaxlib"}}), (False, "no jaxlib", None)),
        (FakeChild({"import": STAGES["import"]}, how="killed by SIGSEGV", stage="devices"), (True, None, "killed by SIGSEGV")),
    ],
    ids=["late", "crash", "exception", "devices"],
)
def test_a_child_that_ends_early(child, expected):
    fact = backend.read(host(child))
    assert (fact.imported, fact.error, fact.ending) == expected
    assert fact.devices is None


def test_training_is_that_of_the_other_child():
    given = host()
    runs = training.read(given).runs
    assert [(run.backend, run.status, run.reason) for run in runs] == [("jax", "passed", None), ("jax", "skipped", "no room")]
    assert given.child("backend").told == [{"free_bytes": {}}]


def test_no_workers_are_started_for_another_backend():
    runs = training.read(host(told=False, level=Level.FULL)).runs
    assert {run.strategy for run in runs} == {"one_device"}


def test_the_log_is_that_of_the_children_that_were_started():
    assert log.read(host()).lines == 2
    assert log.read(host(told=False)).lines == 1


def test_a_tpu_is_left_to_the_other_child():
    files = {"/sys/bus/pci/devices/0000:00:04.0/vendor": "0x1ae0\n", "/sys/bus/pci/devices/0000:00:04.0/device": "0x0063\n"}
    given = FakeHost(files, env={"TPU_NAME": "local"}, children={"framework": TOLD, "backend": FakeChild(STAGES)})
    fact = tpu_resolver.read(given)
    assert (fact.tried, fact.reason) == (False, "the TPU is left to Keras on jax")
