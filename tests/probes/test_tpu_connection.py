"""An unreachable TPU is reported, and all other devices train."""

import os

import pytest
from case_files import program
from fakes import FakeChild, FakeHost
from in_tensorflow import MARKS, printed_by

from gpucheck.core.child.messages.frameworks import FrameworkTask, KerasImport, KerasImported, TpuConnected
from gpucheck.core.child.messages.training import Job, Planned
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import _frameworks as frameworks
from gpucheck.core.probes import log, tensorflow, tpu_resolver, training
from gpucheck.core.probes.tpu_resolver import TpuResolver

ENV = {"TPU_NAME": "local"}
REFUSED = TpuConnected(False, error="NotFoundError: TPU system not found")
CONNECTED = TpuConnected(True, 4)
FIRST, LATER = "cuinit-failed", "gpu-libraries-missing"  # events in the log of each child
SECOND = FakeChild(Planned((Job("one_device", ("CPU:0",), skip="no room"),)), log="W0000 Cannot dlopen some GPU libraries.\n")


class Machine(FakeHost):
    """A machine whose first TensorFlow child tries to connect the TPU, and whose second one does not."""

    def __init__(self, first, **given):
        super().__init__(env=ENV, **given)
        self.first = first

    def child(self, task, limit=30.0):
        if not isinstance(task, FrameworkTask):
            return super().child(task)
        return self.first if task.tpu else SECOND


def first(*messages, how="finished", stage=None):
    return FakeChild(
        KerasImported(KerasImport(imported=True)),
        *messages,
        how=how,
        stage=stage,
        log="W0000 failed call to cuInit: CUDA_ERROR_NO_DEVICE\n",
    )


@pytest.mark.parametrize(
    ("child", "error"),
    [
        (first(REFUSED), "NotFoundError: TPU system not found"),
        (first(how="timed out", stage="tpu"), "no response within 30 s"),
        (first(how="killed by SIGABRT", stage="tpu"), "TensorFlow's process was killed by SIGABRT"),
    ],
    ids=["refused", "hangs", "dies"],
)
def test_another_child_trains_after_a_failed_connection(child, error):
    machine = Machine(child)
    assert tpu_resolver.read(machine) == TpuResolver(tried=True, connected=False, error=error)
    assert [run.reason for run in training.read(machine).runs] == ["no room"]


def test_connection_times_out_at_its_limit():
    assert tpu_resolver.read(Machine(first(how="timed out", stage="tpu"), remaining=3600.0)).error == "no response within 60 s"


def test_connected_child_trains():
    machine = Machine(first(CONNECTED))
    assert tpu_resolver.read(machine) == TpuResolver(tried=True, connected=True, devices=4)
    assert frameworks.training_child(machine) is machine.first


def test_only_one_child_without_a_connection_attempt():
    machine = Machine(FakeChild(how="killed by SIGSEGV", stage="import"))
    assert tpu_resolver.read(machine) == TpuResolver(tried=False, reason="not reached: TensorFlow's process killed by SIGSEGV")
    assert frameworks.training_child(machine) is machine.first


def test_no_other_child_without_training():
    assert frameworks.training_child(Machine(first(REFUSED), request=Request(smoke=False))) is not SECOND


@pytest.mark.parametrize(
    ("child", "kinds"),
    [
        (first(CONNECTED), [FIRST]),
        (first(REFUSED), [LATER]),  # the error is reported; the rest of its log is about the TPU only
        (first(how="timed out", stage="tpu"), [LATER]),
        (first(how="killed by SIGABRT", stage="tpu"), [FIRST, LATER]),
    ],
    ids=["connected", "refused", "hangs", "dies"],
)
def test_children_whose_log_is_read(child, kinds):
    assert [event.kind for event in log.read(Machine(child)).events] == kinds


def proven(address, **settings):
    """The result of the connection to a TPU at this address, and the training runs, in a check with the real TensorFlow."""
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TPU_NAME": address}
    with LocalHost(Request(allow_cpu=True, timeout_seconds=240, **settings), env=env) as host:
        fact = training.read(host)
        assert tensorflow.read(host).imported
        assert fact.ending is None
        return tpu_resolver.read(host), [(run.strategy, run.devices, run.status) for run in fact.runs]


class TestTensorFlow:
    pytestmark = MARKS

    @pytest.mark.slow
    def test_cpu_trains_if_the_tpu_is_missing(self):
        resolver, runs = proven("local", logical_devices=3, strategies=("mirrored", "tpu"))
        assert (resolver.tried, resolver.connected) == (True, False)
        assert runs == [("mirrored", ("CPU:0", "CPU:1", "CPU:2"), "passed"), ("tpu", (), "skipped")]

    @pytest.mark.slow
    def test_cpu_trains_if_the_tpu_does_not_respond(self):
        resolver, runs = proven("grpc://127.0.0.1:9", strategies=("one_device",))
        assert resolver == TpuResolver(tried=True, connected=False, error="no response within 60 s")
        assert runs == [("one_device", ("CPU:0",), "passed")]

    @pytest.mark.parametrize(("wanted", "cpus"), [(0, ["CPU:0"]), (2, ["CPU:0", "CPU:1"])])
    @pytest.mark.slow
    def test_connected_process_also_trains_on_the_cpu(self, wanted, cpus):
        runs = printed_by(CONNECTED_TO_A_TPU, str(wanted))
        assert [run["devices"] for run in runs if run["strategy"] == "one_device"] == [[name] for name in cpus]
        assert {run["status"] for run in runs if run["strategy"] != "tpu"} == {"passed"}
        assert [run["devices"] for run in runs if run["strategy"] == "tpu"] == [["TPU:0", "TPU:1"]]


# The effect of a connection on TensorFlow, without a TPU: its devices can't be configured afterwards.
CONNECTED_TO_A_TPU = program("tpu_connection_connected_to_a_tpu.py")
