import sys

import msgspec
import pytest
from fakes import FakeChild, FakeHost, machine

from gpucheck.probes import gpus
from gpucheck.probes.gpus import Gpu

linux = pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")

LOADED = {"status": "loaded", "library": "/usr/lib/libnvidia-ml.so.1"}


def read(child):
    return gpus.read(FakeHost(children={"nvml": child}))


@linux
def test_a_healthy_h200(driver_host):
    with driver_host() as host:
        fact = msgspec.convert(msgspec.to_builtins(gpus.read(host)), gpus.Gpus)
    (recorded,) = msgspec.convert(machine("h200")["gpus"], gpus.Gpus).gpus
    (answered,) = fact.gpus
    assert answered.power_watts == pytest.approx(recorded.power_watts, abs=0.1)
    here = {"power_watts": 0.0, "processes_visible": None}  # and whether processes are visible is this machine's affair
    assert msgspec.structs.replace(answered, **here) == msgspec.structs.replace(recorded, **here)


@linux
def test_one_lost_gpu_of_eight(driver_host):
    with driver_host({"gpus": 8, "gpu.3.lost": 1}) as host:
        found = gpus.read(host).gpus
    assert [gpu.index for gpu in found] == list(range(8))
    assert [gpu.index for gpu in found if gpu.problem] == [3]
    assert found[3] == Gpu(index=3, problem="GPU is lost", result=15)


@linux
@pytest.mark.parametrize(("deed", "signal"), [("segv", "SIGSEGV"), ("abort", "SIGABRT")])
def test_the_gpu_it_died_on_has_the_problem_and_those_before_are_kept(driver_host, deed, signal):
    with driver_host({"gpus": 8, "gpu.2.nvmlDeviceGetTemperature": deed}) as host:
        found = gpus.read(host).gpus
    assert [gpu.index for gpu in found] == [0, 1, 2]
    assert found[1].temperature_celsius == 39
    assert found[2].result is None
    assert f"was killed by {signal} while NVML was asked about GPU 2" in (found[2].problem or "")


@linux
def test_a_name_that_is_no_text(driver_host):
    with driver_host({"gpu.0.name": r"\xff\xfe\x01"}) as host:
        (gpu,) = gpus.read(host).gpus
    assert gpu.name == "\ufffd\ufffd\x01"
    msgspec.json.encode(gpu)


@linux
def test_a_refusing_nvml_counts_none(driver_host):
    with driver_host({"nvmlInit_v2": 9}) as host:
        assert gpus.read(host).gpus == ()


def test_no_library_no_gpus():
    assert read(FakeChild({"load": {"status": "library-not-found", "problem": "..."}})).gpus == ()


@pytest.mark.parametrize("how", ["killed by SIGSEGV", "timed out"])
@pytest.mark.parametrize(("stage", "where"), [("init", "in nvmlInit"), (None, "between stages")])
def test_a_driver_that_never_came_to_counting_leaves_the_gpus_unknown(how, stage, where):
    with pytest.raises(RuntimeError, match=where):
        read(FakeChild({"load": LOADED}, how=how, stage=stage))


def test_a_hang_in_shutdown_spoils_no_gpu():
    stages = {"load": LOADED, "init": {}, "system": {"gpu_count": 1}, "gpu 0": {"index": 0, "name": "NVIDIA L4"}}
    assert read(FakeChild(stages, how="timed out", stage="shutdown")).gpus == (Gpu(index=0, name="NVIDIA L4"),)
