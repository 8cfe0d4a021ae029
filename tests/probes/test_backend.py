"""Which child is asked, and what it says: TensorFlow's, or that of another Keras backend."""

import pytest
from fakes import FakeChild, FakeHost

from gpucheck.child.messages.frameworks import BackendChosen, Device, DevicesListed, FrameworkImported, KerasImported
from gpucheck.child.messages.training import FreeMemory, Job, JobResult, Planned
from gpucheck.model import Level, Request
from gpucheck.probes import backend, keras, log, tpu_resolver, training

IMPORTED = FrameworkImported(True, import_seconds=0.8, version="0.10.2", path="/x/jax", built_with_cuda=True)
TRAINED = Job("one_device", ("GPU:0",), "float32", True, None, "jax")
SKIPPED = Job("data_parallel", ("GPU:0",), skip="no room", backend="jax")
MESSAGES = (
    IMPORTED,
    DevicesListed((Device("GPU:0", "GPU", "NVIDIA H200", (9, 0)),)),
    KerasImported(True, version="3.15.1", backend="jax", backend_source="KERAS_BACKEND", legacy=False),
    Planned((TRAINED, SKIPPED)),
    (TRAINED.id, JobResult("one_device", ("GPU:0",), "float32", True, "jax", 1, status="passed")),
)
TOLD = FakeChild(BackendChosen("jax", "KERAS_BACKEND"), FrameworkImported(False), log="framework\n")


def host(other=None, *, told=True, **request):
    """A machine whose Keras is told to run on JAX, by the environment or by the option."""
    children = {"backend": other or FakeChild(*MESSAGES, log="backend\n")}
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
    [{}, {"framework": FakeChild(BackendChosen("tensorflow", "default"))}, {"framework": FakeChild()}],
    ids=["not started", "told", "silent"],
)
def test_tensorflow_needs_no_second_child(children):
    fact = backend.read(FakeHost(children=children))
    assert (fact.name, fact.source, fact.imported, fact.other) == ("tensorflow", "default", None, False)


def test_a_backend_that_cannot_train_is_left_to_tensorflows_child():
    child = FakeChild(BackendChosen("numpy", "KERAS_BACKEND"), Planned(()))
    assert backend.read(FakeHost(children={"framework": child})).other is False
    assert training.read(FakeHost(children={"framework": child})).runs == ()


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        (FakeChild(how="timed out", stage="import"), (None, "timed out", "timed out")),
        (FakeChild(how="killed by SIGILL", stage="import"), (False, "killed by SIGILL", "killed by SIGILL")),
        (FakeChild(FrameworkImported(False, error="no jaxlib")), (False, "no jaxlib", None)),
        (FakeChild(IMPORTED, how="killed by SIGSEGV", stage="devices"), (True, None, "killed by SIGSEGV")),
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
    assert given._children["backend"].sent == [FreeMemory({})]


def test_no_workers_are_started_for_another_backend():
    runs = training.read(host(told=False, level=Level.FULL)).runs
    assert {run.strategy for run in runs} == {"one_device", "data_parallel"}


def test_the_log_is_that_of_the_children_that_were_started():
    assert log.read(host()).lines == 2
    assert log.read(host(told=False)).lines == 1


def test_a_tpu_is_left_to_the_other_child():
    files = {"/sys/bus/pci/devices/0000:00:04.0/vendor": "0x1ae0\n", "/sys/bus/pci/devices/0000:00:04.0/device": "0x0063\n"}
    given = FakeHost(files, env={"TPU_NAME": "local"}, children={"framework": TOLD, "backend": FakeChild(*MESSAGES)})
    fact = tpu_resolver.read(given)
    assert (fact.tried, fact.reason) == (False, "the TPU is left to Keras on jax")
