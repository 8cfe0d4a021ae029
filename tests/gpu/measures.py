"""The measurements on a GPU machine, compared with nvidia-smi, plain programs and NVML."""

import compileall
import json
import math
import os
import pathlib
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from gpu.place import CHECKOUT, CPU, GPU, Done, Place

from gpucheck.core.training.smoke import network

BENCHMARKS = CHECKOUT / "benchmarks"
REPEATS = 3
# The limits of benchmarks/run.py, but NVML and CUDA start in 0.1 s on a machine with a GPU: 2.8 on an H100.
QUICK_RATIOS, WHOLE_RATIO, STEP_RATIO = {GPU: 3.5, CPU: 2.0}, 1.15, 1.05
BENCH_RATIO, FIRST_RATIO = 1.2, 1.5  # for single runs, which are not repeated
LEFT_BYTES = 64 << 20  # allowed growth of a GPU's memory in use: the driver keeps some
SOAK_MINUTES = "2"


class Row(NamedTuple):
    """One line of the table."""

    name: str
    expected: str
    found: str
    ok: bool | None  # None: it could not run here
    figures: Mapping[str, float] = MappingProxyType({})  # units in the names
    done: Done | None = None  # the command that ran


def ratios(place: Place) -> Iterator[Row]:
    """Ratios of gpucheck's times to those of plain programs, each the minimum of several alternating runs."""
    compileall.compile_dir(CHECKOUT / "gpucheck", quiet=2)  # as an installation does
    seconds: dict[str, list[float]] = {}
    reports, done = [], None
    for _ in range(REPEATS):
        done = place.gpucheck(())
        reports.append(done.report)
        runs = {
            "quick": place.gpucheck(("--quick",)),
            "quick_plain": place.program("import click, psutil, pynvml"),
            "whole": done,
            "whole_plain": place.run([place.python(), str(BENCHMARKS / "plain_training.py")], place.env()),
        }
        for name, run in runs.items():
            seconds.setdefault(name, []).append(run.seconds)
        steps = place.run([place.python(), str(BENCHMARKS / "plain_steps.py")], place.env())
        if steps.code == 0:
            seconds.setdefault("step_plain", []).append(float(steps.out.split()[-1]))
    passed = [run for report in reports for run in report.get("training", [])[:1] if run["status"] == "passed"]
    seconds["step"] = [run["step_seconds"] for run in passed]
    more = {
        "first_step_seconds": min((run["first_step_seconds"] for run in passed), default=0.0),
        "repeated_seconds": max((one["seconds"] for one in devices_of(done)), default=0.0),
    }
    for name, limit in (("quick", QUICK_RATIOS[place.kind]), ("whole", WHOLE_RATIO), ("step", STEP_RATIO)):
        ours, theirs = min(seconds[name], default=0.0), min(seconds.get(f"{name}_plain", []), default=0.0)
        ratio = ours / theirs if ours and theirs else math.inf
        figures = {f"{name}_seconds": ours, f"{name}_plain_seconds": theirs, **(more if name == "step" else {})}
        yield Row(f"ratio-{name}", f"at most {limit}", f"{ratio:.2f}", ratio <= limit, figures, done)


def devices_of(done: Done | None) -> list[dict[str, Any]]:
    """The repeated computations of a report, by device."""
    checksums = (done.report if done else {}).get("facts", {}).get("training", {}).get("checksums") or {}
    return list(checksums.get("devices", []))


def load(place: Place) -> Iterator[Row]:
    """The training's memory and activity, compared with NVML's values at the same time."""
    readings = place.folder / "readings"
    sampler = (
        "import pynvml, time, sys\npynvml.nvmlInit()\nprint('ready', flush=True)\n"
        "gpu = pynvml.nvmlDeviceGetHandleByIndex(0)\n"
        f"with open({str(readings)!r}, 'w') as file:\n"
        "    while True:\n"
        "        used, busy = pynvml.nvmlDeviceGetMemoryInfo(gpu).used, pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu\n"
        "        print(used, busy, file=file, flush=True)\n"
        "        time.sleep(0.05)\n"
    )
    with place.running(sampler):
        done = place.gpucheck(("--strategy", "one_device"))
        time.sleep(0.2)
    values = [tuple(map(int, line.split())) for line in readings.read_text().splitlines() if line.count(" ") == 1]
    used, busy = [value[0] for value in values], [value[1] for value in values]
    peak = max((run["peak_memory_bytes"] or 0 for run in done.report.get("training", [])), default=0)
    activity = done.report.get("facts", {}).get("activity", {}).get("gpus", [])
    ours = max((gpu["utilization_percent"] or 0 for gpu in activity), default=0)
    rise = max(used, default=0) - min(used, default=0)
    ok = 0 < peak <= rise and ours > 0
    figures = {
        "peak_bytes": peak,
        "nvml_rise_bytes": rise,
        "utilization_percent": ours,
        "nvml_utilization_percent": max(busy, default=0),
    }
    found = f"{peak:,} bytes of {rise:,}; {ours} % busy, NVML {max(busy, default=0)} %"
    yield Row("load", "the peak is within what NVML counts; the GPU is busy", found, ok, figures, done)


def watched(place: Place, program: str) -> Iterator[Row]:
    """A program that waits for its input: our callback reports it."""
    done = place.program(program)
    text = done.out + done.err
    lines = [line for line in text.splitlines() if "input" in line and "gpucheck" in text]
    yield Row("watch", "waits for its input", (lines or [text[-200:]])[-1][:200], done.code == 0 and bool(lines), {}, done)


def becomes_the_command(place: Place) -> Iterator[Row]:
    """``gpucheck run``: the program's own output and exit code."""
    done = place.gpucheck(("run", *(["--allow-cpu"] if place.kind == CPU else []), "--", "sh", "-c", "echo started; exit 7"))
    yield Row(
        "run", "started, exit 7", f"{done.out.strip()}, exit {done.code}", (done.out, done.code) == ("started\n", 7), {}, done
    )


def left_behind(place: Place) -> Iterator[Row]:
    """Memory and processes on the GPUs after all runs, compared with the first call."""
    gpus = place.gpucheck(("node",)).report.get("facts", {}).get("gpus", {}).get("gpus", [])
    now = {"used": [gpu["memory_used_bytes"] or 0 for gpu in gpus], "processes": [len(gpu["processes"] or ()) for gpu in gpus]}
    file = place.folder / "at-first.json"
    if not file.exists():
        file.write_text(json.dumps(now))
    first = json.loads(file.read_text())
    more = max((after - before for before, after in zip(first["used"], now["used"], strict=False)), default=0)
    processes = sum(now["processes"]) - sum(first["processes"])
    found = f"{more:,} bytes and {processes} processes more than at first"
    ok = bool(gpus) and more <= LEFT_BYTES and processes <= 0
    yield Row("left-behind", "no memory, no process", found, ok, {"left_bytes": more})


def full(place: Place) -> Iterator[Row]:
    """``--full`` on a healthy machine: every job and every experiment."""
    done = place.gpucheck(("--full",))
    failed = [one["name"] for one in done.report.get("experiments", []) if one["status"] not in ("passed", "skipped")]
    failed += [f"{run['strategy']} {run['precision']}" for run in done.report.get("training", []) if run["status"] == "failed"]
    errors = [finding["code"] for finding in done.report.get("findings", []) if finding["severity"] == "error"]
    found = ", ".join([*errors, *failed]) or f"{done.report.get('verdict', 'no report')}"
    yield Row("full", "no error", found, bool(done.report) and not errors and not failed, {"seconds": done.seconds}, done)


def in_container(place: Place) -> Iterator[Row]:
    """``gpucheck node`` in a container of this machine's image GPU_IMAGE, with the GPUs and without them; nothing is downloaded."""
    engine, image = shutil.which("docker") or shutil.which("podman"), os.environ.get("GPU_IMAGE")
    why = "there is no docker or podman" if engine is None else "GPU_IMAGE names no image with this Python"
    if engine is None or image is None:
        yield Row("container", "healthy, and container-without-gpu", f"skipped: {why}", None)
        return
    site = [str(place.site.folder)] if place.site is not None else [path for path in sys.path if path.endswith("-packages")]
    shared = [f"--volume={folder}:{folder}:ro" for folder in (CHECKOUT, *site)]
    run = [
        engine,
        "run",
        "--rm",
        "--network=none",
        "--pull=never",
        *shared,
        f"--env=PYTHONPATH={':'.join([str(CHECKOUT), *site])}",
    ]
    devices = ["--gpus=all"] if engine.endswith("docker") else ["--device=nvidia.com/gpu=all"]
    for name, more, expected in (("container", devices, None), ("container-without-gpu", [], "container-without-gpu")):
        command = [*run, *more, image, "python3", "-m", "gpucheck", "node" if more else "--quick", "--format", "json"]
        done = place.run(command, place.env())
        roots = [one["code"] for one in done.report.get("findings", []) if one["severity"] == "error"]
        found = f"{done.report.get('verdict', 'no report')}, exit {done.code}: {', '.join(roots) or 'nothing'}"
        yield Row(name, expected or "no error", found, bool(done.report) and (roots[:1] or [None])[0] == expected, {}, done)


def bench(place: Place) -> Iterator[Row]:
    """The benchmark's first step and step against a loop written by hand, without XLA and with it."""
    batch = network.PER_REPLICA_BATCH["CPU" if place.kind == CPU else "GPU"]
    how = ("--strategy", "one_device", "--devices", "1", "--batch-size", str(batch), "--repeats", "3", "--xla", "both")
    allow = ("--allow-cpu",) if place.kind == CPU else ()
    done = place.gpucheck(("bench", *how, *allow, "--format", "json"), limit=600)
    for measured in done.report.get("measurements", [{"xla": False, "status": "no report"}]):
        name, argument = ("bench-xla", ["xla"]) if measured["xla"] else ("bench", [])
        plain = place.run([place.python(), str(BENCHMARKS / "plain_steps.py"), *argument], place.env())
        if measured["status"] != "measured" or plain.code != 0:
            found = f"{measured['status']}; by hand: exit {plain.code}"
            yield Row(name, f"at most {BENCH_RATIO}", found, False, {}, done)
            continue
        first, step = map(float, plain.out.split()[-2:])
        ours = measured["step_seconds"]["minimum"]
        ratio, first_ratio = ours / step, measured["first_step_seconds"] / first
        figures = {"step_seconds": ours, "plain_step_seconds": step}
        figures |= {"first_step_seconds": measured["first_step_seconds"], "plain_first_step_seconds": first}
        expected = f"a step at most {BENCH_RATIO}, the first at most {FIRST_RATIO}"
        found = f"a step {ratio:.2f}, the first {first_ratio:.2f}"
        yield Row(name, expected, found, ratio <= BENCH_RATIO and first_ratio <= FIRST_RATIO, figures, done)


def soak(place: Place) -> Iterator[Row]:
    """Repeated computations on all GPUs at the same time."""
    done = place.gpucheck(("--soak", SOAK_MINUTES))
    devices = devices_of(done)
    wrong = [one["device"] for one in devices if one["wrong"] or one["unstable"]]
    missing = sorted({name for one in devices for name in one["unavailable"]})
    found = f"{', '.join(wrong) or 'all the same'}; not available: {', '.join(missing) or 'nothing'}"
    rounds = [one["rounds"] for one in devices]
    figures = {"rounds": statistics.median(rounds)} if rounds else {}
    codes = [finding["code"] for finding in done.report.get("findings", [])]
    yield Row("soak", "all the same", found, bool(devices) and "device-results-differ" not in codes, figures, done)


def remove(path: pathlib.Path) -> None:
    """Remove a file or a folder."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
