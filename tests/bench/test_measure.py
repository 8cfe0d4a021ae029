"""Sessions with fake children: requests, results, notes, and children that end early."""

import pytest
from bench.cases import raw
from fakes import FakeChild, FakeHost

from gpucheck.commands.bench import plan
from gpucheck.commands.bench.measure import GENERATED, Session, bench
from gpucheck.commands.bench.model import Ask
from gpucheck.core.child.messages.benchmark import BenchTask, DataLoaded, Measured
from gpucheck.core.child.messages.drivers import (
    CudaCount,
    CudaDevice,
    CudaDevices,
    CudaVersion,
    Gpu,
    GpuRead,
    GpuSample,
    LibraryLoaded,
    NvmlSystem,
    Sampled,
    SamplerStarted,
)
from gpucheck.core.child.messages.frameworks import (
    Device,
    DevicesListed,
    KerasImport,
    KerasImported,
    TensorFlowImport,
    TensorFlowImported,
    TpuConnected,
)
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.training.strategies import load

GPU, CPU = (
    Device(name="GPU:0", kind="GPU", description="NVIDIA H200", compute_capability=(9, 0)),
    Device(name="CPU:0", kind="CPU"),
)
TENSORFLOW = TensorFlowImported(TensorFlowImport(imported=True, version="2.21.0"))
KERAS = KerasImported(KerasImport(imported=True, version="3.15.1", backend="tensorflow"))
READY = (TENSORFLOW, DevicesListed((CPU, GPU)), KERAS, DataLoaded())
READY_CPU = (TENSORFLOW, DevicesListed((CPU,)), KERAS, DataLoaded())
ONE, TWO = "one_device on 1 GPU, float32, batch 64", "one_device on 1 GPU, float32, batch 128"
ON_CPU = "one_device on 1 CPU, float32, batch 8"
ASK = Ask(batch_sizes=(64, 128))
NVML = (
    LibraryLoaded("loaded", "libnvidia-ml.so.1"),
    NvmlSystem(version="580.1", gpu_count=2),
    ("0", GpuRead(Gpu(index=0, name="NVIDIA H200", pci_address="0000:00:05.0"))),
    ("1", GpuRead(Gpu(index=1, name="NVIDIA H200", pci_address="0000:00:06.0"))),
)
CUDA = (
    LibraryLoaded("loaded", "libcuda.so.1"),
    CudaVersion(13000),
    CudaCount(count=1),
    CudaDevices((CudaDevice(ordinal=0, name="NVIDIA H200", pci_address="0000:00:06.0"),)),
)
SAMPLES = (
    SamplerStarted(),
    ("0", Sampled(12.0, (GpuSample(1), GpuSample(98, clock_event_reasons=0x40)))),
    ("1", Sampled(99.0, (GpuSample(1), GpuSample(2)))),
)


class Turns(FakeHost):
    """A host that returns the next fake child at each start of the measuring child."""

    def __init__(self, *turns, **options):
        super().__init__(**options)
        self.turns = list(turns)

    def child(self, task, limit=30.0):
        return self.turns.pop(0) if isinstance(task, BenchTask) else super().child(task, limit)


def measured(host, ask=ASK):
    return bench(host, ask, lambda pending: None)


def test_all_in_one_child():
    child = FakeChild(*READY, (ONE, raw()), (TWO, raw()))
    got = measured(Turns(child, interpreter={"version": "3.12.3"}))
    assert [one.status for one in got.measurements] == ["measured", "measured"]
    assert got.ended == "finished"
    assert got.versions == {"python": "3.12.3", "tensorflow": "2.21.0", "keras": "3.15.1"}
    assert got.hardware == ("CPU:0 (16 cores)", "GPU:0 (NVIDIA H200)")
    (job,) = child.sent
    assert (job.cpu_devices, job.repeats, job.steps, job.epochs) == (0, 3, 50, 1)
    assert [configuration.batch_size for configuration in job.configurations] == [64, 128]


def test_load_of_each_gpu_during_its_configuration():
    children = {"nvml": FakeChild(*NVML), "cuda": FakeChild(*CUDA), "sampler": FakeChild(*SAMPLES)}
    got = measured(Turns(FakeChild(*READY, (ONE, raw()), (TWO, Measured("no"))), children=children))
    (load,) = got.measurements[0].gpus
    assert (load.device, load.samples, load.utilization_percent) == ("GPU:0", 1, 98)
    assert load.slowed_by == ("HwThermalSlowdown",)
    assert got.measurements[1].gpus == ()
    assert [(one.device, one.utilization_percent) for one in got.samples] == [("GPU:0", 98), ("GPU:0", 2)]
    first, failed = got.measurements
    assert got.samples[0].seconds - first.began_seconds == pytest.approx(12.0 - raw().began)
    assert first.ended_seconds - first.began_seconds == pytest.approx(raw().ended - raw().began)
    assert failed.began_seconds is None


def test_missing_nvml_is_a_note():
    got = measured(Turns(FakeChild(*READY, (ONE, raw()), (TWO, raw()))))
    assert any(note.startswith("no utilization, power or clocks: ") for note in got.notes)


def test_unmeasured_strategy_has_no_figures():
    got = measured(Turns(FakeChild(*READY, (ONE, raw()))), Ask(strategies=("parameter_server", "one_device")))
    assert [(one.strategy, one.status) for one in got.measurements] == [
        ("parameter_server", "not-measured"),
        ("one_device", "measured"),
    ]
    assert got.measurements[0].reason == load("parameter_server").not_in_bench
    assert got.measurements[0].samples_per_second is None
    assert got.ended == "finished"


TPU_ID = "tpu on 4 TPUs, float32, batch 64"
REFUSED = TpuConnected(False, error="NotFoundError: TPUs not found in the cluster. Failed in initialization: No OpKernel")


def test_tpu_is_measured_by_the_connected_process():
    connected = FakeChild(*READY_CPU, TpuConnected(True, 4), (TPU_ID, raw(replicas=4, global_batch_size=256)))
    other = FakeChild(*READY_CPU, (ON_CPU, raw()))
    host = Turns(connected, other)
    got = measured(host, Ask(strategies=("tpu", "one_device"), allow_cpu=True))
    assert [(one.strategy, one.status, len(one.devices)) for one in got.measurements] == [
        ("tpu", "measured", 4),
        ("one_device", "measured", 1),
    ]
    assert [len(child.sent) for child in (connected, other)] == [1, 1]
    assert connected.sent[0].configurations[0].devices == ("TPU:0", "TPU:1", "TPU:2", "TPU:3")
    assert got.hardware == ("CPU:0 (16 cores)", "4 TPU cores")


def test_missing_tpu_needs_another_process_for_the_others():
    failed = FakeChild(*READY_CPU, REFUSED)
    got = measured(Turns(failed, FakeChild(*READY_CPU, (ON_CPU, raw()))), Ask(strategies=("tpu", "one_device"), allow_cpu=True))
    assert [(one.strategy, one.status) for one in got.measurements] == [("tpu", "not-measured"), ("one_device", "measured")]
    assert got.measurements[0].reason == "no TPU is connected: NotFoundError: TPUs not found in the cluster"
    assert failed.sent == []


@pytest.mark.parametrize(
    ("child", "message"),
    [
        (FakeChild(*READY_CPU, REFUSED), "NotFoundError: TPUs not found in the cluster$"),
        (FakeChild(*READY_CPU, how="killed by SIGABRT"), "the process was killed by SIGABRT$"),
        (FakeChild(*READY_CPU, how="timed out"), "no response within 30 s$"),
    ],
)
def test_only_a_missing_tpu_is_refused(child, message):
    with pytest.raises(plan.Refused, match=message) as refused:
        measured(Turns(child), Ask(strategies=("tpu",)))
    assert refused.value.exit_code == 3


def test_random_samples_are_noted():
    got = measured(Turns(FakeChild(*READY, (ONE, raw(generated=True)), (TWO, raw(generated=True)))))
    assert [note for note in got.notes if "random" in note] == [GENERATED]


def test_crash_fails_one_configuration():
    dead = FakeChild(*READY, how="killed by SIGSEGV", stage=ONE)
    got = measured(Turns(dead, FakeChild(*READY, (TWO, raw()))))
    assert [one.status for one in got.measurements] == ["failed", "measured"]
    assert got.measurements[0].reason == "the measuring process was killed by SIGSEGV"
    assert got.ended == "finished"


def test_timeout_keeps_results():
    got = measured(Turns(FakeChild(*READY, (ONE, raw()), how="timed out", stage=TWO)))
    assert got.ended == "timed out"
    assert [(one.status, one.reason) for one in got.measurements] == [("measured", None), ("not-measured", "timed out")]


def test_timeout_in_a_later_process():
    first = FakeChild(*READY_CPU, (ON_CPU, raw()))
    got = measured(Turns(first, FakeChild(how="timed out", stage="import")), Ask(allow_cpu=True))
    assert got.ended == "timed out"
    assert [(one.status, one.reason) for one in got.measurements] == [("measured", None), ("not-measured", "timed out")]
    assert not any("did not start" in note for note in got.notes)


def test_later_process_that_fails_to_start_is_a_note():
    first = FakeChild(*READY_CPU, (ON_CPU, raw()))
    got = measured(Turns(first, FakeChild(how="killed by SIGILL", stage="import")), Ask(allow_cpu=True))
    assert got.ended == "finished"
    assert [(one.status, one.reason) for one in got.measurements] == [("measured", None), ("not-measured", "not reached")]
    assert got.notes[-1] == "TensorFlow did not start: the process was killed by SIGILL, stage: import"


def test_ctrl_c_keeps_results():
    def pressed(pending):
        raise KeyboardInterrupt

    class Slow(FakeChild):
        def wait_for(self, kind, job="", within=None):
            if job == TWO:
                import time

                time.sleep(1.0)
            return super().wait_for(kind, job)

    got = bench(Turns(Slow(*READY, (ONE, raw()), (TWO, raw()))), ASK, pressed)
    assert got.ended == "interrupted"
    assert [(one.status, one.reason) for one in got.measurements] == [("measured", None), ("not-measured", "interrupted")]


def test_one_process_per_number_of_cpu_devices():
    ids = [ON_CPU, "mirrored on 2 CPUs, float32, batch 8", "mirrored on 4 CPUs, float32, batch 8"]
    turns = [FakeChild(*READY_CPU, (name, raw())) for name in ids]
    got = measured(Turns(*turns), Ask(allow_cpu=True, devices=(1, 2, 4)))
    assert [one.status for one in got.measurements] == ["measured"] * 3
    assert [child.sent[0].cpu_devices for child in turns] == [1, 2, 4]


@pytest.mark.parametrize(
    ("messages", "code", "message"),
    [
        (
            (TensorFlowImported(TensorFlowImport(imported=False, error_type="ImportError", error="no wheel")),),
            3,
            "can't be imported: ImportError: no wheel",
        ),
        ((), 3, "TensorFlow did not start: the process was killed by SIGILL, stage: import"),
        ((*READY[:2], KerasImported(KerasImport(imported=False, error_type="E", error="x"))), 3, "Keras can't be imported: E: x"),
        (
            (*READY, KerasImported(replace(KERAS.outcome, backend="jax", backend_source="KERAS_BACKEND"))),
            3,
            r"jax \(KERAS_BACKEND\)",
        ),
        ((*READY, DataLoaded("f.npz: no array y")), 2, "f.npz: no array y"),
    ],
)
def test_no_measurement_without_tensorflow(messages, code, message):
    with pytest.raises(plan.Refused, match=message) as refused:
        measured(Turns(FakeChild(*messages, how="killed by SIGILL", stage="import")))
    assert refused.value.exit_code == code


def test_timeout_of_the_first_process_gives_the_reason():
    with pytest.raises(plan.Refused, match=r"did not start: timed out \(--timeout 120\), stage: import$") as refused:
        measured(Turns(FakeChild(how="timed out", stage="import")))
    assert refused.value.exit_code == 3


def test_cpu_is_not_measured_instead_of_a_broken_gpu():
    def host(**env):
        return Turns(FakeChild(*READY_CPU), children={"nvml": FakeChild(*NVML)}, env=env)

    with pytest.raises(plan.Refused, match=r"the driver lists 2 GPU\(s\), TensorFlow lists none"):
        Session(host(), Ask(allow_cpu=True)).run()
    hidden = Session(host(CUDA_VISIBLE_DEVICES="-1"), Ask(allow_cpu=True, strategies=("one_device",)))
    hidden.run()
    assert len(hidden.measurements("")) == 1
