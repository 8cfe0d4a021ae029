"""The answer: every release checked against the machine, the newest without a known defect first.

Rules use ``best``; everything else is for ``gpucheck setup``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gpucheck.core.compat import cuda as cuda_tables
from gpucheck.core.compat import images, versions, wheels
from gpucheck.core.compat.gpus import JETSON
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.compat.tensorflow import RELEASES, Release
from gpucheck.core.model import Assignment, Operation
from gpucheck.core.solver import backends, constraints, tpus
from gpucheck.core.solver.answer import Answer, Choice, Excluded, Kind, Limit, Reason
from gpucheck.core.solver.machine import Machine, Python, Wishes

_TENSORRT = "tensorrt"
_JETSON_GUIDE = "https://docs.nvidia.com/deeplearning/frameworks/install-tf-jetson-platform/index.html"
_NEWEST_CUDNN = "9.99"  # newer than any that pip installs if only the major is bounded
_LIFTED: tuple[Kind, ...] = ("driver", "python", "glibc")


def best(machine: Machine, wishes: Wishes | None = None) -> Choice | None:
    """What to install on this machine; None if nothing works. For fixes of rules, not for findings."""
    return solve(machine, wishes).best


def solve(machine: Machine, wishes: Wishes | None = None) -> Answer:
    """The whole answer for a machine."""
    wishes = wishes or Wishes()
    if wishes.backend != "tensorflow":
        return backends.solve(machine, wishes)
    if machine.tpu is not None and not wishes.cpu:
        return tpus.solve(machine, wishes)
    choices, reasons = _judge(machine, wishes)
    if not choices and wishes.python is None:
        choices = _judge(machine, wishes, fetched=True)[0]
    if not choices and not _judge(machine, replace(wishes, python=None), fetched=True)[0]:
        choices = tuple(_images(machine, wishes))
    newest = choices[0].tensorflow if choices else None
    excluded = tuple(
        Excluded(tensorflow=minor, reasons=why)
        for minor, why in reasons.items()
        if why and (newest is None or not versions.at_least(newest, minor))
    )
    limits = tuple(_limits(machine, wishes, newest, reasons))
    return Answer(machine=machine, choices=choices, excluded=excluded, limits=limits, advice=_advice(machine, wishes, choices))


def _judge(
    machine: Machine, wishes: Wishes, *, fetched: bool = False
) -> tuple[tuple[Choice, ...], dict[str, tuple[Reason, ...]]]:
    """The choices, best first, and why each other release does not work, newest first.

    Args:
        machine: the target.
        wishes: the user's.
        fetched: use Pythons that are not on the machine.
    """
    choices: list[Choice] = []
    out: dict[str, tuple[Reason, ...]] = {}
    with_gpu = uses_gpu(machine, wishes)
    anywhere = machine.pythons is None and wishes.python is None
    common = constraints.driver_for_gpus(machine) if with_gpu else None
    for release in reversed(RELEASES.values()):
        if wishes.tensorflow is not None and not versions.satisfies(release.latest_patch, wishes.tensorflow):
            continue
        reasons = [common] if common else list(constraints.reasons(release, machine, with_gpu))
        python = Python(version=release.python_max) if fetched or anywhere else _python(release, machine, wishes)
        if python is None:
            reasons.append(constraints.python_reason(release, _pythons(machine, wishes)))
        if reasons or python is None:
            out[release.minor] = tuple(reasons)
        else:
            choices.append(_choice(release, machine, python, with_gpu))
    return tuple(sorted(choices, key=lambda choice: bool(choice.assignments))), out


def uses_gpu(machine: Machine, wishes: Wishes) -> bool:
    """Whether the answer must use a GPU; also if it is unknown whether there is one."""
    return not wishes.cpu and machine.gpus != ()


def _python(release: Release, machine: Machine, wishes: Wishes) -> Python | None:
    """The newest Python for the release; those that can create environments are preferred."""
    fitting = [python for python in _pythons(machine, wishes) if constraints.has_packages(release, python)]
    usable = [python for python in fitting if machine.uv or python.has_venv is not False] or fitting
    return max(usable, key=lambda python: versions.parse(python.version)[:2], default=None)


def _pythons(machine: Machine, wishes: Wishes) -> tuple[Python, ...]:
    return (wishes.python,) if wishes.python is not None else machine.pythons or ()


def _choice(release: Release, machine: Machine, python: Python, with_gpu: bool) -> Choice:
    if not with_gpu:
        return Choice(
            tensorflow=release.latest_patch,
            keras=release.keras,
            python=python,
            packages=(f"tensorflow=={release.latest_patch}",),
            remarks=(*_remarks(release, machine, python), *_cpu_remarks(machine)),
        )
    pins, remarks = _cudnn(release, machine)
    return Choice(
        tensorflow=release.latest_patch,
        keras=release.keras,
        python=python,
        cuda=release.cuda,
        cudnn=release.cudnn,
        packages=(*_packages(release), *pins),
        assignments=_assignments(release, python),
        remarks=(*_remarks(release, machine, python), *remarks, *_gpu_remarks(release, machine)),
    )


def is_fetched(python: Python, machine: Machine) -> bool:
    """Whether a choice's Python is not on the machine."""
    return python.executable is None and machine.pythons is not None and python not in machine.pythons


def _packages(release: Release) -> tuple[str, ...]:
    """TensorFlow with its CUDA libraries. 2.14 also requires a TensorRT for few Pythons: list its other packages by name."""
    parts = tuple(part for part in release.and_cuda if not part.startswith(_TENSORRT))
    if parts == release.and_cuda:
        return (f"tensorflow[and-cuda]=={release.latest_patch}",)
    return (f"tensorflow=={release.latest_patch}", *parts)


def _cudnn(release: Release, machine: Machine) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A pin that excludes cuDNN versions without code for a GPU of this machine, and the reason."""
    old = next((gpu for capability, gpu in machine.kinds if not cuda_tables.cudnn_runs_on(_NEWEST_CUDNN, capability)), None)
    ranges = any(part.startswith("nvidia-cudnn-cu12<") for part in release.and_cuda)
    if old is None or not ranges:
        return (), ()
    remark = (
        f"cuDNN 9.11 and newer have no code for {old.title}, so {cuda_tables.CUDNN_LAST_FOR_OLD_GPUS} is the last that may come"
    )
    return ("nvidia-cudnn-cu12<9.11",), (remark,)


def _assignments(release: Release, python: Python) -> tuple[Assignment, ...]:
    if release.cusolver_reachable:
        return ()
    folder = f"{{environment}}/lib/python{versions.minor(python.version)}/site-packages/nvidia/cusolver/lib"
    reason = f"TensorFlow {release.minor} does not search the folder of libcusolver.so.11 (a bug of this release)"
    return (Assignment(variable="LD_LIBRARY_PATH", operation=Operation.PREPEND, value=folder, reason=reason),)


def _remarks(release: Release, machine: Machine, python: Python) -> Iterator[str]:
    minor = versions.minor(python.version)
    if is_fetched(python, machine):
        yield f"Python {minor} is not on this machine: uv fetches it (https://docs.astral.sh/uv)"
    elif python.has_venv is False and not machine.uv:
        yield f"Python {minor} cannot make environments here: install its package python{minor}-venv first, or uv"
    if not versions.at_least(release.minor, "2.16"):
        yield f"tf.keras is Keras 2 in TensorFlow {release.minor}"


def _cpu_remarks(machine: Machine) -> Iterator[str]:
    if machine.system == "darwin":
        yield "TensorFlow's packages for macOS use the CPU only, not Apple's GPU"
    elif machine.system == "win32":
        yield "on Windows itself TensorFlow uses the CPU only; it uses an NVIDIA GPU in WSL2"


def _gpu_remarks(release: Release, machine: Machine) -> Iterator[str]:
    if machine.gpus is None:
        yield "whether a GPU is here could not be read; these packages train on the CPU, too"
    if any(part.startswith(_TENSORRT) for part in release.and_cuda):
        yield "tensorflow[and-cuda] of this release asks for a TensorRT that has no package for Python 3.11: the rest is named"
    if machine.gpus is not None and machine.driver is None:
        lowest = release.driver_min_windows if machine.wsl else release.driver_min_linux
        yield f"no NVIDIA driver answers here: install one first, {lowest} or newer"
    for capability, gpu in machine.kinds:
        if not wheels.is_native(release, capability):
            yield f"most code for {gpu.title} is compiled by the driver at first use: the first steps take minutes, once"


def _images(machine: Machine, wishes: Wishes) -> Iterator[Choice]:
    """NVIDIA's image, for GPUs that no wheel has code for."""
    image = images.LAST
    if not machine.kinds or wishes.cpu or machine.system != "linux" or machine.architecture not in image.architectures:
        return
    if wishes.tensorflow is not None and not versions.satisfies(image.tensorflow, wishes.tensorflow):
        return
    covered = all(image.lowest <= capability <= image.highest and capability not in JETSON for capability, _ in machine.kinds)
    new_enough = machine.driver is None or machine.driver_reaches(image.driver_min)
    if covered and new_enough and constraints.driver_for_gpus(machine) is None:
        yield Choice(
            tensorflow=image.tensorflow,
            keras=image.keras,
            python=Python(version=image.python),
            cuda=image.cuda,
            source="image",
            image=image.name,
            remarks=("NVIDIA's own build, the last one that it made; Docker and the NVIDIA Container Toolkit start it",),
        )


def _limits(machine: Machine, wishes: Wishes, newest: str | None, reasons: dict[str, tuple[Reason, ...]]) -> Iterator[Limit]:
    """For each kind of limit, the newest release that a change would allow, and the smallest such change."""
    for kind in _LIFTED:
        needs = {reason.needs for why in reasons.values() for reason in why if reason.kind == kind and reason.needs}
        limit = None
        reached = newest or "0"
        for need in sorted(needs, key=versions.parse, reverse=kind == "python" and _is_newest(wishes.python, needs)):
            choice = next(iter(_judge(*_lifted(machine, wishes, kind, need))[0]), None)
            if choice is not None and choice.tensorflow is not None and not versions.at_least(reached, choice.tensorflow):
                reached = choice.tensorflow
                limit = Limit(
                    text=f"{_condition(machine, wishes, kind, need)}: TensorFlow {reached}", kind=kind, tensorflow=reached
                )
        if limit is not None:
            yield limit


def _is_newest(python: Python | None, needs: Iterable[str]) -> bool:
    """Whether the requested Python is newer than all needed ones, so that the nearest is the highest."""
    return python is not None and all(versions.at_least(python.version, need) for need in needs)


def _lifted(machine: Machine, wishes: Wishes, kind: Kind, need: str) -> tuple[Machine, Wishes]:
    if kind == "driver":
        return replace(machine, driver=need), wishes
    if kind == "glibc":
        return replace(machine, glibc=need), wishes
    python = Python(version=need)
    return replace(machine, pythons=(*(machine.pythons or ()), python)), replace(
        wishes, python=python
    ) if wishes.python else wishes


def _condition(machine: Machine, wishes: Wishes, kind: Kind, need: str) -> str:
    if kind == "python":
        newer = all(versions.at_least(need, versions.minor(python.version)) for python in _pythons(machine, wishes))
        return f"with Python {need}{' or newer' if newer else ''}"
    if kind == "glibc":
        return f"with glibc {need} or newer"
    older = machine.driver is not None and versions.at_least(machine.driver, need)
    return f"with a driver of branch {need}" if older else f"with driver {need} or newer"


def _advice(machine: Machine, wishes: Wishes, choices: tuple[Choice, ...]) -> tuple[str, ...]:
    """What to do if nothing can be installed."""
    if choices:
        return ()
    if machine.system == "win32" and uses_gpu(machine, wishes):
        return (
            "Install WSL2 and run gpucheck setup there: it is the only way to an NVIDIA GPU on Windows",
            "To train on the CPU: gpucheck setup --cpu",
        )
    lines = []
    if machine.musl:
        lines.append("Use a container with glibc, such as python:3.12-slim")
    if any(capability in JETSON for capability, _ in machine.kinds):
        lines.append(f"NVIDIA makes TensorFlow for Jetson itself: {_JETSON_GUIDE}")
    if uses_gpu(machine, wishes):
        lines.append("To train on the CPU: gpucheck setup --cpu")
        for name in backends.NAMES:
            if backends.solve(machine, replace(wishes, backend=name)).choices:
                lines.append(f"Keras trains on {TITLES[name]} here: gpucheck setup --backend {name}")
    return tuple(lines)
