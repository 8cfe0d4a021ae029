"""What is compared between two reports: values that a run does not change by itself, by group and name.

Left out is what differs from one run, or one job, to the next without meaning anything: temperatures, clocks, free memory,
process ids, folders, ranks.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from gpucheck.expectations import steady
from gpucheck.expectations.gpus import GIB
from gpucheck.model.naming import devices


class Tracked(NamedTuple):
    """One value in words; with a number, differences within the tolerance of speeds don't count."""

    words: str
    probes: tuple[str, ...]  # it is compared only where both runs have these facts
    number: float | None = None
    coarse: str | None = None  # the words without the version, which one of the two may not have looked at (``--quick``)

    @property
    def vague(self) -> bool:
        """Whether its version was not looked at."""
        return self.words == self.coarse


Entry = tuple[str, str, Tracked]  # group, what, value
Plain = dict[str, Any]  # a fact as plain JSON, or all of them by probe

# One job, one rank or one worker each: different by design.
_PER_JOB = frozenset(
    {
        "CLOUD_TPU_TASK_ID",
        "CONDA_PREFIX",
        "SLURMD_NODENAME",
        "SLURM_JOB_GPUS",
        "SLURM_JOB_ID",
        "SLURM_JOB_NODELIST",
        "SLURM_LOCALID",
        "SLURM_NODEID",
        "SLURM_NODELIST",
        "SLURM_PROCID",
        "SLURM_STEP_GPUS",
        "SLURM_STEP_NODELIST",
        "TPU_WORKER_ID",
        "VIRTUAL_ENV",
    }
)


def tracked(facts: Plain) -> dict[tuple[str, str], Tracked]:
    """Every value that is there, by group and name. A value that is None is unknown and left out."""
    return {(group, what): value for look in _LOOKS for group, what, value in look(facts)}


def _driver(facts: Plain) -> Iterator[Entry]:
    driver, module, cuda = (facts.get(name) or {} for name in ("driver", "kernel_module", "cuda"))
    yield from _fields("driver and CUDA", "driver", driver, {"status": "NVML", "version": "NVIDIA driver"})
    yield from _fields(
        "driver and CUDA", "kernel_module", module, {"version": "kernel module", "open_source": "open kernel module"}
    )
    yield from _fields("driver and CUDA", "cuda", cuda, {"status": "libcuda", "driver_version": "the driver's CUDA"})


def _frameworks(facts: Plain) -> Iterator[Entry]:
    group, packages = "TensorFlow and Keras", facts.get("packages") or {}
    for name, label in (("tensorflow", "TensorFlow"), ("keras", "Keras"), ("tf_keras", "tf-keras"), ("libtpu", "libtpu")):
        if installed := packages.get(name):
            plain = installed["name"] in (name, name.replace("_", "-"))
            yield group, label, Tracked(installed["version"] + ("" if plain else f" ({installed['name']})"), ("packages",))
    tensorflow, keras = facts.get("tensorflow") or {}, facts.get("keras") or {}
    yield from _fields(
        group, "tensorflow", tensorflow, {"imported": "import tensorflow works", "built_with_cuda": "built with CUDA"}
    )
    if (listed := tensorflow.get("devices")) is not None:
        kinds = [device["kind"] for device in listed]
        words = ", ".join(f"{kinds.count(kind)} × {kind}" for kind in sorted(set(kinds))) or "none"
        yield group, "devices that TensorFlow lists", Tracked(words, ("tensorflow",))
    yield from _fields(
        group, "keras", keras, {"imported": "import keras works", "backend": "Keras backend", "legacy": "tf.keras is Keras 2"}
    )


def _libraries(facts: Plain) -> Iterator[Entry]:
    group, fact = "libraries", facts.get("libraries") or {}
    for library in fact.get("libraries") or ():
        source = f" from {library['source']}" if library.get("source") else ""
        yield group, library["soname"], _found(library, source)
    for name in ("ptxas", "libdevice"):
        tool = fact.get(name) or {}
        if fact.get("tensorflow"):
            yield group, name, _found(tool)
    for wheel in (facts.get("packages") or {}).get("nvidia") or ():
        yield group, wheel["name"], Tracked(wheel["version"], ("packages",))


def _found(file: Plain, source: str = "") -> Tracked:
    if not file.get("path"):
        return Tracked("not found", ("libraries",))
    return Tracked(f"{file.get('version') or 'found'}{source}", ("libraries",), coarse=f"found{source}")


def _python(facts: Plain) -> Iterator[Entry]:
    group, system = "Python and packages", facts.get("system") or {}
    labels = {"version": "Python", "implementation": "Python implementation"}
    yield from _fields(group, "interpreter", facts.get("interpreter") or {}, labels)
    for one in (facts.get("packages") or {}).get("others") or ():
        yield group, one["name"], Tracked(one["version"], ("packages",))
    labels = {"os_name": "operating system", "kernel": "kernel", "glibc": "glibc", "architecture": "architecture"}
    yield from _fields(group, "system", system, labels)


def _hardware(facts: Plain) -> Iterator[Entry]:
    group = "hardware"
    for probe, field, label in (("pci", "gpus", "NVIDIA GPUs on the PCI bus"), ("gpus", "gpus", "GPUs that the driver counts")):
        if (fact := facts.get(probe)) is not None:
            count = sum(probe != "pci" or gpu.get("vendor_id") == "0x10de" for gpu in fact.get(field) or ())
            yield group, label, Tracked(str(count), (probe,))
    if ((facts.get("cuda") or {}).get("device_count")) is not None:
        yield group, "GPUs that CUDA offers", Tracked(str(facts["cuda"]["device_count"]), ("cuda",))
    for gpu in (facts.get("gpus") or {}).get("gpus") or ():
        label = f"GPU {gpu['index']}"
        fields = {
            "name": "",
            "problem": " problem",
            "ecc_enabled": " ECC",
            "compute_mode": " compute mode",
            "mig_enabled": " MIG",
            "mig_devices": " MIG devices",
            "pcie_width_max": " PCIe lanes",
            "pcie_generation_max": " PCIe generation",
            "power_limit_watts": " power limit in W",
            "fabric_state": " NVSwitch fabric",
        }
        yield from _fields(group, "gpus", gpu, {name: label + words for name, words in fields.items()})
        if size := gpu.get("memory_total_bytes"):
            yield group, f"{label} memory", Tracked(f"{size / GIB:.1f} GiB", ("gpus",))
        if capability := gpu.get("compute_capability"):
            yield group, f"{label} compute capability", Tracked(".".join(map(str, capability)), ("gpus",))
        if links := gpu.get("nvlinks"):
            active = sum(bool(link.get("active")) for link in links)
            yield group, f"{label} NVLinks", Tracked(f"{active} of {len(links)} active", ("gpus",))
    limits = facts.get("limits") or {}
    yield from _fields(group, "limits", limits, {"cpu_count": "processors"})
    if size := limits.get("memory_total_bytes"):
        yield group, "memory", Tracked(f"{size / GIB:.0f} GiB", ("limits",))


def _environment(facts: Plain) -> Iterator[Entry]:
    for name, value in ((facts.get("environment") or {}).get("variables") or {}).items():
        if name not in _PER_JOB:
            yield "environment variables", name, Tracked(f'"{value}"', ("environment",))


def _limits(facts: Plain) -> Iterator[Entry]:
    group, limits = "limits", facts.get("limits")
    if limits is None:
        return
    counts = {
        "cpu_affinity_count": "processors this process may use",
        "cpu_quota": "processors granted by the control group",
        "open_files": "open files",
        "processes": "processes",
        "processes_cgroup": "tasks granted by the control group",
        "home_writable": "home can be written to",
        "kernel_cache_writable": "cache of compiled kernels can be written to",
    }
    yield from _fields(group, "limits", limits, counts)
    sizes = {
        "memory_limit_bytes": "memory granted by the control group",
        "shared_memory_total_bytes": "/dev/shm",  # noqa: S108 - a name
        "address_space_bytes": "address space",
    }
    for name, label in sizes.items():
        if (size := limits.get(name)) is not None:
            yield group, label, Tracked(f"{size / GIB:.3g} GiB", ("limits",))


def _training(facts: Plain) -> Iterator[Entry]:
    group = "training speed"
    for run in (facts.get("training") or {}).get("runs") or ():
        place = devices(run.get("devices") or ()) or "no device"
        if run.get("cross_device"):
            continue  # only tried to find out why another failed
        label = f"{run['strategy']} on {place} in {run['precision']}{', compiled by XLA' if run.get('compiled') else ''}"
        yield group, label, Tracked(run["status"].replace("_", " "), ("training",))
        if (speed := run.get("samples_per_second")) is not None and steady(run.get("devices") or ()):
            yield group, f"{label}, samples/s", Tracked(f"{speed:,.4g}", ("training",), speed)


def _fields(group: str, probe: str, fact: Plain, labels: dict[str, str]) -> Iterator[Entry]:
    for name, label in labels.items():
        value = fact.get(name)
        if value is not None:
            words = str(value) if not isinstance(value, bool) else "yes" if value else "no"
            yield group, label, Tracked(words, (probe,))


_LOOKS = (_driver, _frameworks, _libraries, _python, _hardware, _environment, _limits, _training)
