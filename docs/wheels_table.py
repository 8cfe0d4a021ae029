"""The generated page docs/wheels.md: the GPUs that each wheel supports, and the driver for each. docs/build.py writes it."""

import json
import pathlib

from gpucheck.core.compat import cuda, versions, wheels
from gpucheck.core.compat.gpus import CAPABILITIES, JETSON
from gpucheck.core.compat.wheels import Wheel

INTRODUCTION = """\
# GPUs and drivers of each wheel

This table shows the oldest driver with which a GPU can use all code in a wheel. It is read from the wheels on PyPI, without a
GPU: each library contains fat binaries, with machine code and PTX for some compute capabilities.

- **525.60.13**: most of the code for this GPU is machine code. The driver must support the wheel's CUDA version.
- *555*: most of it is PTX, and the driver compiles it at first use. A driver can't compile PTX that is newer than itself.
  Three digits are a driver branch, on Linux.
- –: no code for this GPU.

The table shows what a wheel contains. On compute capability 10.0 and newer, TensorFlow's wheels load and then fail or stop:
[gpu-too-new](diagnoses/gpu-too-new.md). `gpucheck setup` takes that into account, and cuDNN, which supports fewer GPUs.

`python tools/read_wheels.py` reads the wheels again; the data is `gpucheck/core/compat/wheels.json`.

"""
_NEEDS = """\
The columns glibc and libstdc++ (GLIBCXX) show the newest symbol versions in the wheel's libraries. A wheel's tag can require
newer ones.

"""
_PAIRS = """\
The combinations of `gpucheck setup --with jax` and `--with torch` on one GPU (Linux, x86_64) were resolved with uv, and the
libraries in the resolved wheels were read. *linked* is the number of functions that one library needs from another to be loaded.
*called* is the number of functions that TensorFlow and JAX call in libraries that they open at run time; if one is absent, the
call returns an error. PyTorch's own index is replaced by the packages that its build pins, and by torch from PyPI.

`python tools/check_symbols.py` checks them again; the data is `tools/pairs.json`.

"""
PAIRS = pathlib.Path(__file__).parents[1] / "tools/pairs.json"
_SHOWN = [capability for capability in CAPABILITIES if capability >= (3, 5) and capability not in JETSON]


def page() -> str:
    """Return the page as Markdown."""
    found = [wheel for wheel in wheels.all_wheels() if wheel.code]
    titles = ["wheel", "PTX", *(".".join(map(str, capability)) for capability in _SHOWN)]
    lines = [titles, ["---"] * len(titles), *(_row(wheel) for wheel in found)]
    needs = [["wheel", "built", "glibc", "libstdc++", "CUDA libraries", "Python"], ["---"] * 6]
    needs += [_needs(wheel) for wheel in wheels.all_wheels()]
    tables = f"{_table(lines)}\n## What each wheel needs\n\n{_NEEDS}{_table(needs)}"
    return f"{INTRODUCTION}{tables}\n## What fits together\n\n{_PAIRS}{_table(_pairs())}"


def _pairs() -> list[list[str]]:
    rows = [["packages", "Python", "JAX", "cuDNN, NCCL", "linked", "missing", "called", "absent"], ["---"] * 8]
    for entry in json.loads(PAIRS.read_text(encoding="utf-8")):
        found = dict(package.split("==") for package in entry["resolved"])
        jax = [version for name, version in found.items() if name.startswith("jax-cuda") and name.endswith("plugin")]
        shared = [version for part in ("cudnn", "nccl") for name, version in found.items() if name.startswith(f"nvidia-{part}-")]
        counts = [str(entry["linked"]), _short(entry["missing"]), str(entry["called"]), _short(entry["absent"])]
        rows.append([f"`{entry['pair']}`", entry["python"], ", ".join(jax) or "–", ", ".join(shared), *counts])
    return rows


def _short(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "0"


def _table(lines: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def cuda_major(wheel: Wheel) -> int:
    """Return the CUDA major that a wheel is built with, by what it says itself, else by its PTX."""
    said = [wheel.build.get("cuda_version", ""), *(name.rpartition(".so.")[2] for name in wheel.needed if "cudart" in name)]
    said += [part[4:] for part in wheel.project.split("-") if part.startswith("cuda")]
    said += [cuda.cuda_of_ptx(version) for _, entries, _ in wheel.code for _, version in entries]
    return next(versions.parse(text)[0] for text in said if versions.parse(text))


def _name(wheel: Wheel) -> str:
    return f"{wheel.project} {wheel.version}" + (" aarch64" if wheel.architecture == "aarch64" else "")


def _row(wheel: Wheel) -> list[str]:
    ptx = sorted({version for _, entries, _ in wheel.code for _, version in entries}, key=versions.parse)
    return [_name(wheel), ", ".join(ptx), *(_cell(wheel, capability) for capability in _SHOWN)]


def _cell(wheel: Wheel, capability: tuple[int, int]) -> str:
    lowest = _lowest_driver(wheel, capability)
    if lowest is None:
        return "–"
    found = wheels.support(wheel, capability)
    return f"**{lowest}**" if found.native > found.compiled else f"*{lowest}*"


def _lowest_driver(wheel: Wheel, capability: tuple[int, int]) -> str | None:
    """Return the first driver, or branch, on Linux that loads all of a wheel's code for a GPU; None without code for it."""
    found = wheels.support(wheel, capability)
    if not found.usable:
        return None
    branches = [cuda.first_branch(capability), cuda.branch_of_cuda(cuda.cuda_of_ptx(found.ptx)) if found.ptx else None]
    return max([cuda.LOWEST_DRIVER[cuda_major(wheel)][0], *(branch for branch in branches if branch)], key=versions.parse)


def _needs(wheel: Wheel) -> list[str]:
    built = f"CUDA {wheel.build['cuda_version']}, cuDNN {wheel.build['cudnn_version']}" if "cuda_version" in wheel.build else ""
    libraries = ", ".join(name for name in wheel.needed if not name.startswith("libcuda.so"))
    python = wheel.requires_python or "any"
    return [_name(wheel), built, wheel.glibc or "–", wheel.glibcxx or "–", libraries, f"`{python}`"]
