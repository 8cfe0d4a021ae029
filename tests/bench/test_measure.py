"""Who measures, on made-up children: what is told, what is taken, and what becomes of a child that ends early."""

import pytest
from bench.cases import raw
from fakes import FakeChild, FakeHost

from gpucheck.bench import plan
from gpucheck.bench.measure import Session
from gpucheck.bench.model import Ask
from gpucheck.bench.run import bench

GPU = {"name": "GPU:0", "kind": "GPU", "description": "NVIDIA H200", "compute_capability": [9, 0]}
CPU = {"name": "CPU:0", "kind": "CPU", "description": None, "compute_capability": None}
READY = {
    "import": {"imported": True, "version": "2.21.0"},
    "devices": [CPU, GPU],
    "keras": {"imported": True, "version": "3.15.1", "backend": "tensorflow"},
    "data": {"problem": None, "samples": None},
}
ONE, TWO = "measure one_device on 1 GPU, float32, batch 64", "measure one_device on 1 GPU, float32, batch 128"
ASK = Ask(batch_sizes=(64, 128))
NVML = {
    "load": {"status": "loaded", "library": "libnvidia-ml.so.1"},
    "init": {},
    "system": {"version": "580.1", "gpu_count": 2},
    "gpu 0": {"index": 0, "name": "NVIDIA H200", "pci_address": "0000:00:05.0"},
    "gpu 1": {"index": 1, "name": "NVIDIA H200", "pci_address": "0000:00:06.0"},
    "shutdown": None,
}
CUDA = {
    "load": {"status": "loaded", "library": "libcuda.so.1"},
    "init": {},
    "version": 13000,
    "count": {"count": 1},
    "devices": [{"ordinal": 0, "name": "NVIDIA H200", "pci_address": "0000:00:06.0"}],
}
SAMPLES = {
    "start": {"problem": None},
    "sample 0": {"at": 12.0, "gpus": [{"utilization_percent": 1}, {"utilization_percent": 98, "clock_event_reasons": 0x40}]},
    "sample 1": {"at": 99.0, "gpus": [{"utilization_percent": 1}, {"utilization_percent": 2}]},
}


class Turns(FakeHost):
    """Every start of the measuring child gives the next of these."""

    def __init__(self, *turns, **options):
        super().__init__(**options)
        self.turns = list(turns)

    def child(self, name, *args, limit=30.0):
        return self.turns.pop(0) if name == "bench" else super().child(name, *args, limit=limit)


def measured(host, ask=ASK):
    return bench(host, ask, lambda pending: None)


def test_all_in_one_child():
    child = FakeChild({**READY, ONE: raw(), TWO: raw()})
    got = measured(Turns(child, interpreter={"version": "3.12.3"}))
    assert [one.status for one in got.measurements] == ["measured", "measured"]
    assert got.ended == "finished"
    assert got.versions == {"python": "3.12.3", "tensorflow": "2.21.0", "keras": "3.15.1"}
    assert got.hardware == ("CPU:0 (16 cores)", "GPU:0 (NVIDIA H200)")
    (told,) = child.told
    assert (told["cpu_devices"], told["repeats"], told["steps"], told["epochs"]) == (0, 3, 50, 1)
    assert [item["batch_size"] for item in told["items"]] == [64, 128]


def test_load_is_of_the_right_gpu_at_the_right_time():
    children = {"nvml": FakeChild(NVML), "cuda": FakeChild(CUDA), "sampler": FakeChild(SAMPLES)}
    got = measured(Turns(FakeChild({**READY, ONE: raw(), TWO: {"problem": "no"}}), children=children))
    (load,) = got.measurements[0].gpus
    assert (load.device, load.samples, load.utilization_percent) == ("GPU:0", 1, 98)
    assert load.slowed_by == ("HwThermalSlowdown",)
    assert got.measurements[1].gpus == ()
    assert [(one.device, one.utilization_percent) for one in got.samples] == [("GPU:0", 98), ("GPU:0", 2)]
    first, failed = got.measurements
    assert got.samples[0].seconds - first.began_seconds == pytest.approx(12.0 - raw()["began"])
    assert first.ended_seconds - first.began_seconds == pytest.approx(raw()["ended"] - raw()["began"])
    assert failed.began_seconds is None


def test_without_nvml_a_note():
    got = measured(Turns(FakeChild({**READY, ONE: raw(), TWO: raw()})))
    assert any(note.startswith("no utilisation, power or clocks: ") for note in got.notes)


def test_a_strategy_that_is_not_measured_is_a_configuration_without_figures():
    got = measured(Turns(FakeChild({**READY, ONE: raw()})), Ask(strategies=("tpu", "one_device")))
    assert [(one.strategy, one.status) for one in got.measurements] == [("tpu", "not-measured"), ("one_device", "measured")]
    assert got.measurements[0].reason == plan.UNMEASURED["tpu"]
    assert got.measurements[0].samples_per_second is None
    assert got.ended == "finished"


def test_a_crash_costs_one_configuration():
    dead = FakeChild(READY, how="killed by SIGSEGV", stage=ONE)
    got = measured(Turns(dead, FakeChild({**READY, TWO: raw()})))
    assert [one.status for one in got.measurements] == ["failed", "measured"]
    assert got.measurements[0].reason == "the measuring process was killed by SIGSEGV"
    assert got.ended == "finished"


def test_the_time_limit_keeps_what_was_measured():
    got = measured(Turns(FakeChild({**READY, ONE: raw()}, how="timed out", stage=TWO)))
    assert got.ended == "timed out"
    assert [(one.status, one.reason) for one in got.measurements] == [("measured", None), ("not-measured", "out of time")]


def test_the_time_limit_may_fall_into_a_later_process():
    ready = {**READY, "devices": [CPU]}
    first = FakeChild({**ready, "measure one_device on 1 CPU, float32, batch 16": raw()})
    got = measured(Turns(first, FakeChild({}, how="timed out", stage="import")), Ask(allow_cpu=True))
    assert got.ended == "timed out"
    assert [(one.status, one.reason) for one in got.measurements] == [("measured", None), ("not-measured", "out of time")]
    assert not any("did not come up" in note for note in got.notes)


def test_a_later_process_that_does_not_come_up_is_a_note():
    ready = {**READY, "devices": [CPU]}
    first = FakeChild({**ready, "measure one_device on 1 CPU, float32, batch 16": raw()})
    got = measured(Turns(first, FakeChild({}, how="killed by SIGILL", stage="import")), Ask(allow_cpu=True))
    assert got.ended == "finished"
    assert [(one.status, one.reason) for one in got.measurements] == [("measured", None), ("not-measured", "not reached")]
    assert got.notes[-1] == "TensorFlow did not come up: the process was killed by SIGILL, stage: import"


def test_ctrl_c_keeps_what_was_measured():
    def pressed(pending):
        raise KeyboardInterrupt

    class Slow(FakeChild):
        def until(self, stage):
            if stage == TWO:
                import time

                time.sleep(1.0)
            return super().until(stage)

    got = bench(Turns(Slow({**READY, ONE: raw(), TWO: raw()})), ASK, pressed)
    assert got.ended == "interrupted"
    assert [(one.status, one.reason) for one in got.measurements] == [("measured", None), ("not-measured", "interrupted")]


def test_a_process_per_number_of_cpu_devices():
    ready = {**READY, "devices": [CPU]}
    stages = [
        "measure one_device on 1 CPU, float32, batch 16",
        "measure mirrored on 2 CPUs, float32, batch 16",
        "measure mirrored on 4 CPUs, float32, batch 16",
    ]
    turns = [FakeChild({**ready, stage: raw()}) for stage in stages]
    got = measured(Turns(*turns), Ask(allow_cpu=True, devices=(1, 2, 4)))
    assert [one.status for one in got.measurements] == ["measured"] * 3
    assert [child.told[0]["cpu_devices"] for child in turns] == [1, 2, 4]


@pytest.mark.parametrize(
    ("stages", "code", "words"),
    [
        (
            {"import": {"imported": False, "error_type": "ImportError", "error": "no wheel"}},
            3,
            "can't be imported: ImportError: no wheel",
        ),
        ({}, 3, "TensorFlow did not come up: the process was killed by SIGILL, stage: import"),
        ({**READY, "keras": {"imported": False, "error_type": "E", "error": "x"}}, 3, "Keras can't be imported: E: x"),
        (
            {**READY, "keras": {**READY["keras"], "backend": "jax", "backend_source": "KERAS_BACKEND"}},
            3,
            r"jax here \(KERAS_BACKEND\)",
        ),
        ({**READY, "data": {"problem": "f.npz: no array y"}}, 2, "f.npz: no array y"),
    ],
)
def test_refused(stages, code, words):
    with pytest.raises(plan.Refused, match=words) as refused:
        measured(Turns(FakeChild(stages, how="killed by SIGILL", stage="import")))
    assert refused.value.exit_code == code


def test_a_first_process_out_of_time_says_why_nothing_was_measured():
    with pytest.raises(plan.Refused, match=r"did not come up: out of time \(--timeout 120\), stage: import$") as refused:
        measured(Turns(FakeChild({}, how="timed out", stage="import")))
    assert refused.value.exit_code == 3


def test_a_cpu_is_not_measured_for_a_broken_gpu():
    def host(**env):
        return Turns(FakeChild({**READY, "devices": [CPU]}), children={"nvml": FakeChild(NVML)}, env=env)

    with pytest.raises(plan.Refused, match=r"the driver has 2 GPU\(s\), TensorFlow lists none"):
        Session(host(), Ask(allow_cpu=True)).run()
    hidden = Session(host(CUDA_VISIBLE_DEVICES="-1"), Ask(allow_cpu=True, strategies=("one_device",)))
    hidden.run()
    assert len(hidden.measurements("")) == 1
