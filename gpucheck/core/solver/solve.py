"""The answer: every release checked against the machine, the newest without a known defect first.

Rules use ``best``; for ``gpucheck setup``, ``around`` makes it the whole answer.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpucheck.core.compat import cuda as cuda_tables
from gpucheck.core.compat import images, tensorflow, versions
from gpucheck.core.compat.tensorflow import RELEASES, Release
from gpucheck.core.model import Assignment, Operation
from gpucheck.core.solver import backends, boards, constraints
from gpucheck.core.solver.answer import Answer, Choice, Excluded, Kind, Limit, Reason
from gpucheck.core.solver.machine import Machine, Python, Requirements

_TENSORRT = "tensorrt"
_TENSORRT_PYTHON = "3.10"  # the newest for which there is a package
_NEWEST_CUDNN = "9.99"  # newer than any that pip installs if only the major is bounded
_LIFTED: tuple[Kind, ...] = ("driver", "python", "glibc")
_NUMPY_1 = "numpy<2"
_LAST_WITHOUT_NUMPY_LIMIT = "2.11"  # its METADATA allows NumPy 2, but its import fails with it


def best(machine: Machine, requirements: Requirements | None = None, beside: str | None = None) -> Choice | None:
    """Return what to install on this machine; None if nothing works. For fixes of rules, not for findings.

    Args:
        machine: the target.
        requirements: the user's.
        beside: the preferred CUDA major ("12"), that of NVIDIA's packages in the environment: another's overwrite their files.
    """
    answer = choose(machine, requirements or Requirements())
    same = (choice for choice in answer.choices if beside and (choice.cuda or "").partition(".")[0] == beside)
    return next(same, answer.best)


def choose(machine: Machine, requirements: Requirements) -> Answer:
    """Return the choices for this kind of machine, best first, and why newer releases do not work."""
    if not requirements.cpu and machine.tpu is None and _has_amd(machine):
        return boards.amd(machine, requirements)
    if requirements.backend != "tensorflow":
        return backends.solve(machine, requirements)
    if machine.tpu is not None and not requirements.cpu:
        return boards.tpu(machine, requirements)
    if machine.jetson and not requirements.cpu:
        return boards.jetson(machine, requirements)
    choices, reasons = _choices(machine, requirements)
    if not choices and machine.gpus is None:
        choices, reasons = _choices(machine, replace(requirements, cpu=True))
    newest = choices[0].tensorflow if choices else None
    excluded = tuple(
        Excluded(tensorflow=minor, reasons=why)
        for minor, why in reasons.items()
        if why and (newest is None or not versions.at_least(newest, minor))
    )
    return Answer(
        machine=machine, choices=choices, excluded=excluded, limits=tuple(_limits(machine, requirements, newest, reasons))
    )


def _has_amd(machine: Machine) -> bool:
    """Whether to use an AMD GPU. A display of unknown model may be integrated into the processor."""
    amd = any(gpu.vendor == "amd" and (gpu.chip or gpu.accelerator) for gpu in machine.others)
    return amd and machine.gpus == () and machine.system != "darwin"


def _choices(machine: Machine, requirements: Requirements) -> tuple[tuple[Choice, ...], dict[str, tuple[Reason, ...]]]:
    """Return the choices, if necessary with a Python that uv fetches or NVIDIA's image, and why other releases do not work."""
    choices, reasons = _judge(machine, requirements)
    if choices:
        return choices, reasons
    if requirements.python is None:
        fetched, why = _judge(machine, requirements, fetched=True)
        if fetched:
            return fetched, why
    if not _judge(machine, replace(requirements, python=None), fetched=True)[0]:
        choices = tuple(_images(machine, requirements))
    return choices, reasons


def _judge(
    machine: Machine, requirements: Requirements, *, fetched: bool = False
) -> tuple[tuple[Choice, ...], dict[str, tuple[Reason, ...]]]:
    """Return the choices, best first, and why each other release does not work, newest first.

    Args:
        machine: the target.
        requirements: the user's.
        fetched: use Pythons that are not on the machine.
    """
    choices: list[Choice] = []
    out: dict[str, tuple[Reason, ...]] = {}
    with_gpu = uses_gpu(machine, requirements)
    anywhere = machine.pythons is None and requirements.python is None
    common = constraints.driver_for_gpus(machine) if with_gpu else None
    for release in reversed(RELEASES.values()):
        if requirements.tensorflow is not None and not versions.satisfies(release.latest_patch, requirements.tensorflow):
            continue
        reasons = [common] if common else list(constraints.reasons(release, machine, with_gpu))
        python = Python(version=release.python_max) if fetched or anywhere else _python(release, machine, requirements)
        if python is None:
            reasons.append(constraints.python_reason(release, _pythons(machine, requirements)))
        if reasons or python is None:
            out[release.minor] = tuple(reasons)
        else:
            choices.append(_choice(release, machine, python, with_gpu))
    return tuple(sorted(choices, key=lambda choice: bool(choice.assignments))), out


def uses_gpu(machine: Machine, requirements: Requirements) -> bool:
    """Whether the answer must use a GPU; also if it is unknown whether there is one."""
    return not requirements.cpu and machine.gpus != () and not (machine.gpus is None and machine.system == "win32")


def _python(release: Release, machine: Machine, requirements: Requirements) -> Python | None:
    """Return the newest Python for the release; those that can create environments are preferred."""
    fitting = [python for python in _pythons(machine, requirements) if constraints.has_packages(release, python)]
    usable = [python for python in fitting if machine.uv or python.has_venv is not False] or fitting
    return max(usable, key=lambda python: versions.parse(python.version)[:2], default=None)


def _pythons(machine: Machine, requirements: Requirements) -> tuple[Python, ...]:
    return (requirements.python,) if requirements.python is not None else machine.pythons or ()


def _choice(release: Release, machine: Machine, python: Python, with_gpu: bool) -> Choice:
    if not with_gpu:
        return Choice(
            tensorflow=release.latest_patch,
            keras=release.keras,
            python=python,
            packages=(*constraints.options(machine), f"tensorflow=={release.latest_patch}", *_numpy(release)),
            remarks=(*_remarks(release, machine, python), *_cpu_remarks(machine)),
        )
    pins, remarks = _cudnn(release, machine)
    return Choice(
        tensorflow=release.latest_patch,
        keras=release.keras,
        python=python,
        cuda=release.cuda,
        cudnn=release.cudnn,
        source="conda" if machine.system == "win32" else "pip",
        packages=(*constraints.options(machine), *_packages(release, python), *_numpy(release), *pins),
        assignments=_assignments(release, python),
        remarks=(*_remarks(release, machine, python), *remarks, *_gpu_remarks(release, machine, python)),
    )


def _packages(release: Release, python: Python) -> tuple[str, ...]:
    """Return TensorFlow with its CUDA libraries; for 2.14, whose TensorRT exists for few Pythons, the others by name."""
    if not release.and_cuda:
        return (f"tensorflow=={release.latest_patch}",)
    if not _lacks_tensorrt(release, python):
        return (f"tensorflow[and-cuda]=={release.latest_patch}",)
    return (f"tensorflow=={release.latest_patch}", *(part for part in release.and_cuda if not part.startswith(_TENSORRT)))


def _lacks_tensorrt(release: Release, python: Python) -> bool:
    """Whether the release requires a TensorRT that has no package for this Python."""
    requires = any(part.startswith(_TENSORRT) for part in release.and_cuda)
    return requires and not versions.at_least(_TENSORRT_PYTHON, versions.minor(python.version))


def _numpy(release: Release) -> tuple[str, ...]:
    return (_NUMPY_1,) if versions.at_least(_LAST_WITHOUT_NUMPY_LIMIT, release.minor) else ()


def _cudnn(release: Release, machine: Machine) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a pin that excludes cuDNN versions without code for a GPU of this machine, and the reason."""
    old = next((gpu for capability, gpu in machine.kinds if not cuda_tables.cudnn_runs_on(_NEWEST_CUDNN, capability)), None)
    ranges = any(part.startswith("nvidia-cudnn-cu12<") for part in release.and_cuda)
    if old is None or not ranges:
        return (), ()
    last = cuda_tables.CUDNN_LAST_FOR_OLD_GPUS
    remark = f"cuDNN {cuda_tables.CUDNN_WITHOUT_OLD_GPUS} and newer have no code for {old.title}, so {last} is the newest allowed"
    return (cuda_tables.CUDNN_FOR_OLD_GPUS,), (remark,)


def _assignments(release: Release, python: Python) -> tuple[Assignment, ...]:
    if release.cusolver_reachable:
        return ()
    folder = f"{{environment}}/lib/python{versions.minor(python.version)}/site-packages/nvidia/cusolver/lib"
    reason = f"TensorFlow {release.minor} does not search the folder of libcusolver.so.11 (a bug in this release)"
    return (Assignment(variable="LD_LIBRARY_PATH", operation=Operation.PREPEND, value=folder, reason=reason),)


def _remarks(release: Release, machine: Machine, python: Python) -> Iterator[str]:
    minor = versions.minor(python.version)
    if machine.lacks(python):
        if machine.system != "win32" or versions.at_least(release.minor, "2.11"):  # else conda brings it
            yield from backends.fetched(python, machine)
    elif python.has_venv is False and not machine.uv:
        yield f"Python {minor} can't create environments here: install its package python{minor}-venv first, or uv"
    if not versions.at_least(release.minor, "2.16"):
        yield f"tf.keras is Keras 2 in TensorFlow {release.minor}"


def _cpu_remarks(machine: Machine) -> Iterator[str]:
    if machine.system == "darwin":
        yield "TensorFlow's packages for macOS use the CPU only, not Apple's GPU"
    elif machine.system == "win32":
        yield "on native Windows this TensorFlow uses only the CPU; in WSL2 it uses an NVIDIA GPU"


def _gpu_remarks(release: Release, machine: Machine, python: Python) -> Iterator[str]:
    if machine.gpus is None and machine.left_open is None:
        yield "whether this machine has a GPU is unknown; these packages also train on the CPU"
    if _lacks_tensorrt(release, python):
        minor = versions.minor(python.version)
        text = "tensorflow[and-cuda] of this release requires a TensorRT that has no package for"
        yield f"{text} Python {minor}: the other packages are listed"
    if machine.system == "win32":
        yield f"TensorFlow {release.minor} is the last that uses a GPU on native Windows; newer ones do in WSL2"
    if machine.gpus and machine.lacks_driver:
        lowest = constraints.lowest_driver(release, machine)
        yield f"no NVIDIA driver responds on this machine: install one first, {lowest} or newer"
    for capability, gpu in machine.kinds:
        if not tensorflow.is_native(release, capability):
            yield f"most code for {gpu.title} is compiled by the driver at first use: the first steps take longer, once"


def _images(machine: Machine, requirements: Requirements) -> Iterator[Choice]:
    """Yield NVIDIA's image, for GPUs that no wheel has code for."""
    if not machine.kinds or requirements.cpu or machine.system != "linux" or machine.architecture not in images.ARCHITECTURES:
        return
    if requirements.tensorflow is not None and not versions.satisfies(images.TENSORFLOW, requirements.tensorflow):
        return
    covered = all(images.LOWEST <= capability <= images.HIGHEST for capability, _ in machine.kinds)
    new_enough = machine.driver is None or machine.driver_reaches(images.LOWEST_DRIVER[machine.windows_driver])
    if covered and new_enough and constraints.driver_for_gpus(machine) is None:
        remark = "NVIDIA's own build, its last one; it requires Docker and the NVIDIA Container Toolkit"
        yield boards.nvidia_image(images.NAME, remark)


def _limits(
    machine: Machine, requirements: Requirements, newest: str | None, reasons: dict[str, tuple[Reason, ...]]
) -> Iterator[Limit]:
    """Yield for each kind of limit the newest release that a change would allow, and the smallest such change."""
    for kind in _LIFTED:
        needs = {reason.needs for why in reasons.values() for reason in why if reason.kind == kind and reason.needs}
        needs |= set(constraints.drivers(machine)) if kind == "driver" and needs else set()
        limit = None
        reached = newest or "0"
        for need in sorted(needs, key=versions.parse, reverse=kind == "python" and _is_newest(requirements.python, needs)):
            choice = next(iter(_choices(*_lifted(machine, requirements, kind, need))[0]), None)
            if choice is not None and choice.tensorflow is not None and not versions.at_least(reached, choice.tensorflow):
                reached = choice.tensorflow
                name = f"TensorFlow {reached}" + (", NVIDIA's image" if choice.source == "image" else "")
                limit = Limit(text=f"{_condition(machine, requirements, kind, need)}: {name}", kind=kind, tensorflow=reached)
        if limit is not None:
            yield limit


def _is_newest(python: Python | None, needs: Iterable[str]) -> bool:
    """Whether the requested Python is newer than all needed ones, so that the nearest is the highest."""
    return python is not None and all(versions.at_least(python.version, need) for need in needs)


def _lifted(machine: Machine, requirements: Requirements, kind: Kind, need: str) -> tuple[Machine, Requirements]:
    if kind == "driver":
        return constraints.with_driver(machine, need), requirements
    if kind == "glibc":
        return replace(machine, glibc=need), requirements
    python = Python(version=need)
    requirements = replace(requirements, python=python) if requirements.python else requirements
    return replace(machine, pythons=(*(machine.pythons or ()), python)), requirements


def _condition(machine: Machine, requirements: Requirements, kind: Kind, need: str) -> str:
    if kind == "python":
        newer = all(versions.at_least(need, versions.minor(python.version)) for python in _pythons(machine, requirements))
        return f"with Python {need}{' or newer' if newer else ''}"
    if kind == "glibc":
        return f"with glibc {need} or newer"
    return f"with {constraints.driver_words(machine, need)}"
