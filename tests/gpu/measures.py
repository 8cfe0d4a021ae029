"""What is measured on a GPU machine, and against what: nvidia-smi's answers, plain programs, NVML's own figures."""

import compileall
import json
import math
import pathlib
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from gpu.place import CHECKOUT, CPU, Done, Place

BENCHMARKS = CHECKOUT / "benchmarks"
REPEATS = 3
QUICK_RATIO, WHOLE_RATIO, STEP_RATIO = 2.0, 1.15, 1.05  # the limits of benchmarks/run.py
LEFT_BYTES = 64 << 20  # of a GPU's memory that may be in use more than before: the driver keeps some
SOAK_MINUTES = "2"


class Row(NamedTuple):
    """One line of the table."""

    name: str
    expected: str
    found: str
    ok: bool | None  # None: it could not be tried here
    figures: Mapping[str, float] = MappingProxyType({})  # units in the names
    done: Done | None = None  # what was run


# What nvidia-smi calls it, where it is in our fact, and how its text becomes our value.
FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "name": ("name", str),
    "uuid": ("uuid", str),
    "pci.bus_id": ("pci_address", lambda text: text.lower()[4:]),
    "compute_cap": ("compute_capability", lambda text: [int(part) for part in text.split(".")]),
    "memory.total": ("memory_total_bytes", lambda text: int(text) << 20),
    "temperature.gpu": ("temperature_celsius", int),
    "power.draw": ("power_watts", float),
    "power.limit": ("power_limit_watts", float),
    "clocks.sm": ("sm_clock_mhz", int),
    "clocks.max.sm": ("sm_clock_max_mhz", int),
    "pcie.link.gen.current": ("pcie_generation", int),
    "pcie.link.width.current": ("pcie_width", int),
    "persistence_mode": ("persistence_mode", lambda text: text == "Enabled"),
    "compute_mode": ("compute_mode", lambda text: text.lower().replace("_", "-")),
    "ecc.mode.current": ("ecc_enabled", lambda text: text == "Enabled"),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected_volatile", int),
    "mig.mode.current": ("mig_enabled", lambda text: text == "Enabled"),
}
# How far apart two readings at different times may be; a rounding to MiB is included.
MAY_DIFFER = {
    "memory_total_bytes": 1 << 20,
    "temperature_celsius": 5,
    "power_watts": 100.0,
    "sm_clock_mhz": 2000,
    "pcie_generation": 5,  # it falls when the GPU idles
    "persistence_mode": 0,
}


def fields(place: Place) -> Iterator[Row]:
    """Each field of each GPU against nvidia-smi's answer."""
    command = ["nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        smi = place.run(command, place.env(), 60)
    except FileNotFoundError:
        yield Row("nvidia-smi", "the same values", "skipped: there is no nvidia-smi", None)
        return
    ours = place.gpucheck(("node",)).report.get("facts", {}).get("gpus", {}).get("gpus", [])
    lines = smi.out.strip().splitlines()
    different = [f"{len(lines)} GPUs instead of {len(ours)}"] if len(lines) != len(ours) else []
    for line, gpu in zip(lines, ours, strict=False):
        for text, (field, read) in zip(line.split(", "), FIELDS.values(), strict=True):
            if not same(field, gpu.get(field), text, read):
                different.append(f"{field} of GPU {gpu.get('index')} is {gpu.get(field)!r}, nvidia-smi says {text!r}")
    found = "; ".join(different) or f"{len(FIELDS)} fields of {len(lines)} GPUs are the same"
    yield Row("nvidia-smi", "the same values", found, bool(lines) and not different, {"fields": len(FIELDS) * len(lines)}, smi)


def same(field: str, ours: Any, text: str, read: Callable[[str], Any]) -> bool:
    """Whether a value of ours is what nvidia-smi printed; "[N/A]" stands for an unknown one."""
    if text.startswith("["):
        return ours in (None, False)
    theirs = read(text)
    if isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
        return ours is not None and abs(ours - theirs) <= MAY_DIFFER.get(field, 0.01)
    return bool(ours == theirs)


def ratios(place: Place) -> Iterator[Row]:
    """Times of gpucheck over those of plain programs, each the least of some runs that alternate."""
    compileall.compile_dir(CHECKOUT / "gpucheck", quiet=2)  # as an installation leaves it
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
    for name, limit in (("quick", QUICK_RATIO), ("whole", WHOLE_RATIO), ("step", STEP_RATIO)):
        ours, theirs = min(seconds[name], default=0.0), min(seconds.get(f"{name}_plain", []), default=0.0)
        ratio = ours / theirs if ours and theirs else math.inf
        figures = {f"{name}_seconds": ours, f"{name}_plain_seconds": theirs, **(more if name == "step" else {})}
        yield Row(f"ratio-{name}", f"at most {limit}", f"{ratio:.2f}", ratio <= limit, figures, done)


def devices_of(done: Done | None) -> list[dict[str, Any]]:
    """The repeated computations of a report, by device."""
    checksums = (done.report if done else {}).get("facts", {}).get("training", {}).get("checksums") or {}
    return list(checksums.get("devices", []))


def load(place: Place) -> Iterator[Row]:
    """The training's own memory and activity against what NVML shows meanwhile."""
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
    """A program that waits for its input, with our callback: it says so."""
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
    """Memory and processes on the GPUs after all that ran, against those when this was called first."""
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


def bench(place: Place) -> Iterator[Row]:
    """The benchmark's step against a loop written by hand."""
    done = place.gpucheck(("bench", "--strategy", "one_device", "--xla", "both", "--repeats", "3", "--format", "json"), limit=600)
    steps = place.run([place.python(), str(BENCHMARKS / "plain_steps.py")], place.env())
    found = f"exit {done.code}; a step by hand {steps.out.strip()} s"
    figures = {"seconds": done.seconds}
    if steps.code == 0:
        figures["plain_step_seconds"] = float(steps.out.split()[-1])
    yield Row("bench", "exit 0", found, done.code == 0 and steps.code == 0, figures, done)


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
