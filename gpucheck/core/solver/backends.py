"""The answer for Keras on JAX or PyTorch: the build that fits the driver and the GPUs."""

from collections.abc import Iterator

from gpucheck.core.compat import cuda as cuda_tables
from gpucheck.core.compat import frameworks, keras, versions
from gpucheck.core.compat.frameworks import Build
from gpucheck.core.compat.gpus import JETSON
from gpucheck.core.model import Assignment, Operation
from gpucheck.core.solver import constraints
from gpucheck.core.solver.answer import Answer, Choice, Excluded, Limit, Reason
from gpucheck.core.solver.machine import Machine, Python, Wishes

NAMES = tuple(frameworks.BUILDS)


def solve(machine: Machine, wishes: Wishes) -> Answer:
    """The builds that fit, best first."""
    if wishes.cpu or (machine.gpus == () and machine.tpu is None):
        return _without_gpu(machine, wishes)
    if machine.tpu is not None:
        return _on_tpu(machine, wishes)
    choices, excluded = [], []
    for build in frameworks.BUILDS[wishes.backend]:
        reasons = list(_reasons(build, machine, wishes))
        python = _python(build.python_min, build.python_max, machine, wishes)
        if reasons or python is None:
            excluded.append(Excluded(tensorflow=build.name, reasons=tuple(reasons)))
        else:
            choices.append(_choice(build, machine, python, wishes.backend))
    newer = [entry for entry in excluded if not choices or _place(entry.tensorflow, wishes) < _place(_name(choices[0]), wishes)]
    limits = tuple(_limits(newer))
    advice = () if choices else ("To train on the CPU: add --cpu",)
    return Answer(machine=machine, choices=tuple(choices), excluded=tuple(newer), limits=limits, advice=advice)


def _reasons(build: Build, machine: Machine, wishes: Wishes) -> Iterator[Reason]:
    source = frameworks.SOURCES[wishes.backend]
    if machine.system != "linux" or machine.musl:
        yield Reason(kind="platform", text="it is for Linux with glibc only", source=source)
    lowest = cuda_tables.LOWEST_DRIVER[build.cuda_major][machine.wsl]
    if machine.driver is not None and not machine.driver_reaches(lowest):
        text = f"CUDA {build.cuda_major} needs driver {lowest} or newer, and this is {machine.driver}"
        yield Reason(kind="driver", text=text, source=constraints.MINOR_COMPATIBILITY, needs=lowest)
    common = constraints.driver_for_gpus(machine)
    if common is not None:
        yield common
    if any(capability in JETSON for capability, _ in machine.kinds):
        yield Reason(kind="gpu", text="it is not for Jetson, whose packages NVIDIA makes", source=source)
    for capability, gpu in machine.kinds:
        if capability < build.lowest or (build.highest is not None and capability > build.highest):
            yield Reason(kind="gpu", text=f"it has no code for {gpu.title}", source=source)
    if _python(build.python_min, build.python_max, machine, wishes) is None:
        text = f"it is for Python {build.python_min} to {build.python_max}"
        yield Reason(kind="python", text=text, source=source, needs=build.python_min)


def _choice(build: Build, machine: Machine, python: Python, backend: str) -> Choice:
    turing = frameworks.JAX[0].lowest
    old = any(capability < turing for capability, _ in machine.kinds)
    pins = ("nvidia-cudnn-cu12<9.11",) if old and backend == "jax" else ()
    remarks = [f"{keras.TITLES[backend]} {build.newest} is the newest of this build"] if build.ended else []
    if pins:
        remarks.append("cuDNN 9.11 and newer have no code for this GPU")
    if machine.driver is None:
        lowest = cuda_tables.LOWEST_DRIVER[build.cuda_major][machine.wsl]
        remarks.append(f"no NVIDIA driver answers here: install one first, {lowest} or newer")
    return Choice(
        tensorflow=None,
        keras=frameworks.KERAS,
        python=python,
        cuda=build.cuda,
        backend=backend,
        packages=(*([] if build.url else ["keras"]), *build.packages, *pins),
        index=build.url,
        assignments=_backend(backend),
        remarks=(*remarks, *_fetched(python, machine)),
    )


def _backend(name: str) -> tuple[Assignment, ...]:
    reason = f"Keras trains on {keras.TITLES[name]} only where it is configured to"
    return (Assignment(variable="KERAS_BACKEND", operation=Operation.SET, value=name, reason=reason),)


def _without_gpu(machine: Machine, wishes: Wishes) -> Answer:
    """The answer for a CPU: every Python that any build supports has a CPU build."""
    builds = frameworks.BUILDS[wishes.backend]
    lowest, highest = min((build.python_min for build in builds), key=versions.parse), builds[0].python_max
    python = _python(lowest, highest, machine, wishes)
    if python is None:
        text = f"it is for Python {lowest} to {highest}"
        reason = Reason(kind="python", text=text, source=frameworks.SOURCES[wishes.backend], needs=lowest)
        return Answer(machine=machine, excluded=(Excluded(tensorflow=wishes.backend, reasons=(reason,)),))
    index = frameworks.CPU_INDEX.get(wishes.backend) if machine.system == "linux" else None
    choice = Choice(
        tensorflow=None,
        keras=frameworks.KERAS,
        python=python,
        backend=wishes.backend,
        packages=(wishes.backend,) if index else ("keras", wishes.backend),
        index=index,
        assignments=_backend(wishes.backend),
        remarks=tuple(_fetched(python, machine)),
    )
    return Answer(machine=machine, choices=(choice,))


def _on_tpu(machine: Machine, wishes: Wishes) -> Answer:
    python = _python(frameworks.JAX[0].python_min, frameworks.JAX[0].python_max, machine, wishes)
    if wishes.backend != "jax" or python is None:
        text = "on a TPU Keras trains on JAX or TensorFlow" if wishes.backend != "jax" else "no Python here fits"
        reason = Reason(kind="tpu", text=text, source=frameworks.SOURCES["jax"])
        return Answer(machine=machine, excluded=(Excluded(tensorflow=wishes.backend, reasons=(reason,)),))
    choice = Choice(
        tensorflow=None,
        keras=frameworks.KERAS,
        python=python,
        backend="jax",
        packages=("keras", "jax[tpu]"),
        assignments=_backend("jax"),
    )
    return Answer(machine=machine, choices=(choice,))


def _python(lowest: str, highest: str, machine: Machine, wishes: Wishes) -> Python | None:
    """The newest Python that fits; if none here fits and the user named none, one that uv fetches."""
    candidates = (wishes.python,) if wishes.python is not None else machine.pythons or ()
    fitting = [python for python in candidates if _between(lowest, python, highest)]
    newest = max(fitting, key=lambda python: versions.parse(python.version)[:2], default=None)
    return newest or (Python(version=highest) if wishes.python is None else None)


def _between(lowest: str, python: Python, highest: str) -> bool:
    minor = versions.minor(python.version)
    return versions.at_least(minor, lowest) and versions.at_least(highest, minor)


def _fetched(python: Python, machine: Machine) -> Iterator[str]:
    if python.executable is None and machine.pythons is not None and python not in machine.pythons:
        yield f"Python {versions.minor(python.version)} is not on this machine: uv fetches it (https://docs.astral.sh/uv)"


def _limits(excluded: list[Excluded]) -> Iterator[Limit]:
    """The first build for which only the driver or Python is too old."""
    for entry in excluded:
        (reason, *others) = entry.reasons
        if not others and reason.needs is not None and reason.kind in ("driver", "python"):
            what = {"driver": "driver", "python": "Python"}[reason.kind]
            yield Limit(
                text=f"with {what} {reason.needs} or newer: {entry.tensorflow}",
                kind=reason.kind,
                tensorflow=entry.tensorflow,
            )
            return


def _place(name: str, wishes: Wishes) -> int:
    return [build.name for build in frameworks.BUILDS[wishes.backend]].index(name)


def _name(choice: Choice) -> str:
    return next(
        build.name
        for build in frameworks.BUILDS[choice.backend]
        if build.packages[0] in choice.packages and build.url == choice.index
    )
