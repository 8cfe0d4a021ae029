"""The parts of a step in a profiler's trace: synthetic traces, and a real one of a slow pipeline."""

import importlib.util
import json
import subprocess
import sys
from types import SimpleNamespace as Some

import msgspec
import pytest
from case_files import program

from gpucheck.core.training import trace

STEPS = (trace.WINDOW, 0, 1000)


def plane(name, **lines):
    """Build a plane of an XSpace; events are (name, begin, end) in nanoseconds."""
    names = sorted({event for events in lines.values() for event, _, _ in events})
    return Some(
        name=name,
        event_metadata={number: Some(name=event) for number, event in enumerate(names)},
        lines=[
            Some(
                name=line,
                timestamp_ns=5,
                events=[
                    Some(metadata_id=names.index(event), offset_ps=begin * 1000, duration_ps=(end - begin) * 1000)
                    for event, begin, end in events
                ],
            )
            for line, events in lines.items()
        ],
    )


def parts(*planes, devices=("GPU:0",), errors=()):
    got = trace.parts_of_step(Some(planes=planes, errors=list(errors)), devices, 1)
    nanoseconds = {name.partition("_")[0]: round(seconds * 1e9) for name, seconds in msgspec.structs.asdict(got).items()}
    assert nanoseconds["device"] + nanoseconds["input"] + nanoseconds["host"] == nanoseconds["step"]
    return nanoseconds["step"], nanoseconds["device"], nanoseconds["input"], nanoseconds["host"]


def test_step_of_a_gpu_is_split_into_device_input_and_host_time():
    host = plane("/host:CPU", python=[STEPS], tf_Compute=[("IteratorGetNextOp::DoCompute", 100, 500), ("conv:Conv2D", 0, 1000)])
    gpu = plane(
        "/device:GPU:0", **{"Stream #7(Kernel)": [("sgemm", 300, 600), ("copy", 590, 700)], "Stream #9": [("nccl", 650, 800)]}
    )
    assert parts(host, gpu) == (1000, 500, 200, 300)


def test_only_events_within_the_steps_and_not_derived_lines_count():
    host = plane("/host:CPU", python=[(trace.WINDOW, 100, 300)])
    lines = {
        "Stream #7": [("copy", 0, 50), ("sgemm", 80, 150), ("sgemm", 290, 900), ("copy", 950, 990)],
        "XLA Ops": [("fusion", 0, 900)],
        "Steps": [("0", 0, 900)],
    }
    assert parts(host, plane("/device:GPU:0", **lines)) == (200, 60, 0, 140)


def test_gpus_are_averaged_including_idle_ones():
    host = plane("/host:CPU", python=[STEPS], waiting=[("IteratorGetNextAsOptionalOp::DoCompute", 0, 500)])
    first, second, other = (plane(f"/device:GPU:{n}", **{"Stream #7": [("sgemm", 0, 400 * n + 200)]}) for n in range(3))
    assert parts(host, first, second, other, devices=("GPU:0", "GPU:1")) == (1000, 400, 150, 450)
    assert parts(host, first, devices=("GPU:0", "GPU:3")) == (1000, 100, 400, 500)


def test_ops_are_the_device_time_on_a_cpu():
    host = plane(
        "/host:CPU",
        python=[STEPS, ("EagerExecute", 0, 1000)],
        tf_Compute=[("model/dense/MatMul:MatMul", 200, 500), ("ExecutorState::Process", 0, 900), ("a:_FusedConv2D", 400, 600)],
        tf_numa_Eigen=[("ThunkExecutor::Execute (sequential)", 600, 650), ("CpuExecutable::ExecuteAsyncOnStream", 640, 700)],
        tf_data_private_threadpool=[("decode:DecodeJpeg", 700, 1000)],
        caller=[("PartitionedCall:PartitionedCall", 0, 1000), ("next:IteratorGetNext", 150, 250), ("w:While", 0, 1000)],
    )
    assert parts(host, devices=("CPU:0", "CPU:1")) == (1000, 500, 50, 450)


@pytest.mark.parametrize(
    ("planes", "devices", "words"),
    [
        ((), ("CPU:0",), "no events of the host: no permission"),
        ((plane("/host:CPU", python=[("a:MatMul", 0, 1)]),), ("CPU:0",), "does not include the steps"),
        ((plane("/host:CPU", python=[STEPS, ("a:MatMul", 0, 1)]),), ("GPU:0",), "no events of the devices: no permission"),
        ((plane("/host:CPU", python=[STEPS]),), ("CPU:0",), "no events of the devices"),
    ],
)
def test_trace_without_events_is_unreadable(planes, devices, words):
    with pytest.raises(trace.Unreadable, match=words):
        parts(*planes, devices=devices, errors=("no permission",))


def test_missing_trace_file_is_unreadable(tmp_path):
    with pytest.raises(trace.Unreadable, match=r"wrote no \.xplane\.pb file"):
        trace.read(str(tmp_path))


SLOW = program("trace_slow.py")


@pytest.mark.tensorflow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@pytest.mark.slow
def test_slow_pipeline_is_most_of_a_real_step(tmp_path):
    done = subprocess.run([sys.executable, "-c", SLOW, str(tmp_path)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    good, broken, busy = json.loads(done.stdout.splitlines()[-1])
    step = good["traced"]
    assert (good["problem"], good["recorded"], step["steps"]) == (None, True, 12)
    assert step["input_seconds"] > 0.5 * step["step_seconds"]
    assert step["device_seconds"] > 0
    assert step["device_seconds"] + step["input_seconds"] + step["host_seconds"] == pytest.approx(step["step_seconds"])
    assert broken.startswith("the trace can't be read: DecodeError")
    assert (busy["recorded"], busy["traced"]) == (False, None)
    assert "profil" in busy["problem"].lower()
