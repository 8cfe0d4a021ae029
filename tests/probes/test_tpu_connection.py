"""A TPU that can't be connected to: what is told of it, and that everything else is trained all the same."""

import json
import os

import pytest
from fakes import FakeChild, FakeHost
from in_tensorflow import MARKS, printed_by

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes import _framework, log, tensorflow, tpu_resolver, training
from gpucheck.probes.tpu_resolver import TpuResolver

ENV = {"TPU_NAME": "local"}
REFUSED = {"connected": False, "error": "NotFoundError: TPU system not found"}
CONNECTED = {"connected": True, "devices": 4, "error": None}
RUN = {"stage": "train one_device CPU:0 float32", "strategy": "one_device", "devices": ["CPU:0"], "precision": "float32"}
SECOND = FakeChild({"plan": [{**RUN, "compiled": False, "skip": "no room"}]}, log="W0000 second\n")


class Machine(FakeHost):
    """Its first child of TensorFlow's tries the TPU, the second one does not."""

    def __init__(self, first, **given):
        super().__init__(env=ENV, **given)
        self.first = first

    def child(self, name, *args, limit=30.0):
        if name != "framework":
            return super().child(name)
        return self.first if json.loads(args[0])["tpu"] else SECOND


def first(how="finished", stage=None, **stages):
    return FakeChild({"keras": {"imported": True}, **stages}, how=how, stage=stage, log="W0000 first\n")


@pytest.mark.parametrize(
    ("child", "error"),
    [
        (first(tpu=REFUSED), "NotFoundError: TPU system not found"),
        (first("timed out", "tpu"), "no answer within 30 s"),
        (first("killed by SIGABRT", "tpu"), "TensorFlow's process was killed by SIGABRT"),
    ],
    ids=["refused", "hangs", "dies"],
)
def test_after_a_failed_connection_another_child_trains(child, error):
    machine = Machine(child)
    assert tpu_resolver.read(machine) == TpuResolver(tried=True, connected=False, error=error)
    assert [run.reason for run in training.read(machine).runs] == ["no room"]


def test_a_connection_never_gets_more_than_its_limit():
    assert tpu_resolver.read(Machine(first("timed out", "tpu"), remaining=3600.0)).error == "no answer within 60 s"


def test_a_child_that_connected_trains_itself():
    machine = Machine(first(tpu=CONNECTED))
    assert tpu_resolver.read(machine) == TpuResolver(tried=True, connected=True, devices=4)
    assert _framework.trainer(machine) is machine.first


def test_a_child_that_did_not_come_to_the_tpu_is_the_only_one():
    machine = Machine(FakeChild(how="killed by SIGSEGV", stage="import"))
    assert tpu_resolver.read(machine) == TpuResolver(tried=False, reason="not reached: TensorFlow's process killed by SIGSEGV")
    assert _framework.trainer(machine) is machine.first


def test_without_training_there_is_no_other_child():
    assert _framework.trainer(Machine(first(tpu=REFUSED), request=Request(smoke=False))) is not SECOND


@pytest.mark.parametrize(
    ("child", "lines"),
    [
        (first(tpu=CONNECTED), ["first"]),
        (first(tpu=REFUSED), ["second"]),  # the error is told; what else stands there is about the TPU alone
        (first("timed out", "tpu"), ["second"]),
        (first("killed by SIGABRT", "tpu"), ["first", "second"]),
    ],
    ids=["connected", "refused", "hangs", "dies"],
)
def test_whose_log_is_read(child, lines, monkeypatch):
    from gpucheck.logs import reading as logs

    monkeypatch.setattr(logs, "parse", lambda lines, source: list(lines))
    assert [line.split()[-1] for line in log.read(Machine(child))] == lines


def proven(address, **settings):
    """What a whole check with the real TensorFlow finds of a TPU at that address, and what it trains."""
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TPU_NAME": address}
    with LocalHost(Request(allow_cpu=True, timeout_seconds=240, **settings), env=env) as host:
        fact = training.read(host)
        assert tensorflow.read(host).imported
        assert fact.ending is None
        return tpu_resolver.read(host), [(run.strategy, run.devices, run.status) for run in fact.runs]


class TestTensorFlow:
    pytestmark = MARKS

    @pytest.mark.slow
    def test_the_cpu_is_trained_beside_a_tpu_that_is_not_there(self):
        resolver, runs = proven("local", logical_devices=3, strategies=("mirrored", "tpu"))
        assert (resolver.tried, resolver.connected) == (True, False)
        assert runs == [("mirrored", ("CPU:0", "CPU:1", "CPU:2"), "passed"), ("tpu", (), "skipped")]

    def test_the_cpu_is_trained_beside_a_tpu_that_does_not_answer(self, monkeypatch):
        monkeypatch.setattr(_framework, "TPU_SECONDS", 1.0)
        resolver, runs = proven("grpc://127.0.0.1:9", strategies=("one_device",))  # TensorFlow knocks there for a minute
        assert resolver == TpuResolver(tried=True, connected=False, error="no answer within 1 s")
        assert runs == [("one_device", ("CPU:0",), "passed")]

    @pytest.mark.parametrize(("wanted", "cpus"), [(0, ["CPU:0"]), (2, ["CPU:0", "CPU:1"])])
    @pytest.mark.slow
    def test_a_process_that_connected_trains_on_the_cpu_too(self, wanted, cpus):
        runs = printed_by(CONNECTED_TO_A_TPU, str(wanted))
        assert [run["devices"] for run in runs if run["strategy"] == "one_device"] == [[name] for name in cpus]
        assert {run["status"] for run in runs if run["strategy"] != "tpu"} == {"passed"}
        assert [run["devices"] for run in runs if run["strategy"] == "tpu"] == [["TPU:0", "TPU:1"]]


# What connecting does to TensorFlow, without a TPU: afterwards its devices can't be set up any more.
CONNECTED_TO_A_TPU = """
import json, sys
from gpucheck.child import framework
from gpucheck.strategies import tpu
tpu.connect = lambda tf: len(tf.config.list_logical_devices()) and 2
runs = []
class Stages:
    def begin(self, stage): pass
    def hear(self, timeout): return None
    def end(self, stage, value):
        if stage.startswith("train "): runs.append(value)
settings = {"smoke": True, "level": 1, "strategies": [], "tpu": True, "logical_devices": int(sys.argv[1])}
framework.run(Stages(), [json.dumps({**settings, "log_device_placement": False, "only": [], "cross_device": None})])
print(json.dumps(runs))
"""
