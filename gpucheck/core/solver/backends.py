"""The answer for Keras on JAX or PyTorch: the build that fits the system, the driver and the GPUs."""

from collections.abc import Iterable, Iterator

from gpucheck.core.compat import cuda as cuda_tables
from gpucheck.core.compat import frameworks, keras, tpu, vendors, versions
from gpucheck.core.compat.frameworks import ARM, Build, CpuBuild, Platform
from gpucheck.core.model import Assignment, Operation
from gpucheck.core.solver import constraints
from gpucheck.core.solver.answer import Answer, Choice, Excluded, Limit, Reason, refused
from gpucheck.core.solver.machine import Machine, Python, Requirements

_FOR_OLD_GLIBC = "2.17"
THOR = (11, 0)  # with JetPack 7 it runs the packages for aarch64 servers


def solve(machine: Machine, requirements: Requirements) -> Answer:
    """Return the builds that fit, best first."""
    if machine.tpu is not None and not requirements.cpu:
        return _on_tpu(machine, requirements)
    if requirements.cpu or machine.gpus == ():
        return _without_gpu(machine, requirements)
    choices: list[Choice] = []
    newer = []  # builds above the best that fits
    for build in frameworks.BUILDS[requirements.backend]:
        reasons = list(_reasons(build, machine, requirements))
        python = python_for(build, machine, requirements)
        if reasons or python is None:
            newer += [] if choices else [Excluded(tensorflow=build.name, reasons=tuple(reasons))]
        elif not (choices and build.glibc == _FOR_OLD_GLIBC):
            choices.append(_choice(build, machine, python, requirements.backend))
    if machine.gpus is None and not choices:
        return _without_gpu(machine, requirements)
    advice = (f"NVIDIA's packages for Jetson: {vendors.JETSON_TORCH}",) if machine.jetson and not choices else ()
    return Answer(machine=machine, choices=tuple(choices), excluded=tuple(newer), limits=tuple(_limits(newer)), advice=advice)


def _reasons(build: Build, machine: Machine, requirements: Requirements) -> Iterator[Reason]:
    yield from _of_system(build, machine, requirements.backend)
    lowest = cuda_tables.LOWEST_DRIVER[build.cuda_major][machine.windows_driver]
    if machine.driver is not None and not machine.driver_reaches(lowest):
        text = f"CUDA {build.cuda_major} needs driver {lowest} or newer; this driver is {machine.driver}"
        yield Reason(kind="driver", text=text, source=constraints.MINOR_COMPATIBILITY, needs=lowest)
    common = constraints.driver_for_gpus(machine)
    if common is not None:
        yield common
    yield from _without_code(build, machine, requirements.backend)
    if python_for(build, machine, requirements) is None:
        yield of_python(build, requirements.backend)


def _of_system(build: Build | CpuBuild, machine: Machine, backend: str) -> Iterator[Reason]:
    """Yield the reason if a build does not work on the machine's system."""
    source = frameworks.SOURCES[backend]
    if reason := _platform(build.platforms, machine, source) or constraints.old_glibc(build.glibc, machine, source):
        yield reason


def of_python(build: Build | CpuBuild, backend: str) -> Reason:
    """Return why a build does not work with any Python of the machine."""
    text = f"it supports Python {build.python_min} to {build.python_max}"
    return Reason(kind="python", text=text, source=frameworks.SOURCES[backend], needs=build.python_min)


def _without_code(build: Build, machine: Machine, backend: str) -> Iterator[Reason]:
    source = frameworks.SOURCES[backend]
    boards = [capability for capability, _ in machine.kinds if machine.jetson and (capability, backend) != (THOR, "torch")]
    if boards:
        text = "it does not support Jetson, for which NVIDIA provides packages"
        yield Reason(kind="gpu", text=text, source=vendors.JETSON_TORCH)
        return
    floor = build.lowest_on_arm if (machine.system, machine.architecture) == ARM else build.lowest
    for capability, gpu in machine.kinds:
        if capability < floor or (build.highest is not None and capability > build.highest):
            yield Reason(kind="gpu", text=f"it has no code for {gpu.title}", source=source)


def _platform(platforms: tuple[Platform, ...], machine: Machine, source: str) -> Reason | None:
    """Return why none of these packages supports the machine's system and processor."""
    architectures = {architecture for system, architecture in platforms if system == machine.system}
    packaged = machine.architecture in architectures or (machine.architecture is None and bool(architectures))
    return constraints.unsupported(machine, packaged, source, avx=source if source == frameworks.SOURCES["jax"] else None)


def _choice(build: Build, machine: Machine, python: Python, backend: str) -> Choice:
    turing = frameworks.JAX[0].lowest
    old = any(capability < turing for capability, _ in machine.kinds)
    pins = (cuda_tables.CUDNN_FOR_OLD_GPUS,) if old and backend == "jax" else ()
    remarks = [f"{keras.TITLES[backend]} {build.newest} is the newest of this build"] if build.ended else []
    if pins:
        remarks.append(f"cuDNN {cuda_tables.CUDNN_WITHOUT_OLD_GPUS} and newer have no code for this GPU")
    if backend == "jax" and machine.wsl:
        remarks.append("JAX's developers call its WSL2 support experimental")
    if machine.lacks_driver:
        lowest = cuda_tables.LOWEST_DRIVER[build.cuda_major][machine.windows_driver]
        remarks.append(f"no NVIDIA driver responds on this machine: install one first, {lowest} or newer")
    return _packaged(build, machine, python, backend, remarks, pins)


def _packaged(
    build: Build | CpuBuild, machine: Machine, python: Python, backend: str, remarks: list[str], pins: tuple[str, ...] = ()
) -> Choice:
    return Choice(
        python=python,
        cuda=build.cuda if isinstance(build, Build) else None,
        backend=backend,
        packages=(*constraints.options(machine), *([] if build.url else ["keras"]), *build.packages, *pins),
        index=build.url,
        assignments=assignments(backend),
        remarks=(*remarks, *fetched(python, machine)),
    )


def assignments(name: str) -> tuple[Assignment, ...]:
    """Return the variable that configures Keras for a backend."""
    reason = f"Keras trains on {keras.TITLES[name]} only if it is configured to"
    return (Assignment(variable="KERAS_BACKEND", operation=Operation.SET, value=name, reason=reason),)


def _without_gpu(machine: Machine, requirements: Requirements) -> Answer:
    """Return the answer for a CPU, and for Apple's GPU, which PyTorch's package for macOS uses."""
    builds = frameworks.CPU_BUILDS[requirements.backend]
    reasons: list[Reason] = []
    for build in builds:
        why = list(_of_system(build, machine, requirements.backend))
        python = python_for(build, machine, requirements)
        if python is None:
            why.append(of_python(build, requirements.backend))
        elif not why:
            return Answer(machine=machine, choices=(_cpu_choice(build, machine, python, requirements.backend),))
        reasons += why[:1]
    first = next((reason for reason in reasons if reason.kind != "platform"), reasons[0])
    return refused(machine, requirements.backend, first)


def _cpu_choice(build: CpuBuild, machine: Machine, python: Python, backend: str) -> Choice:
    remarks = [build.remark] if build.remark else []
    if backend == "torch" and (machine.system, machine.architecture) == frameworks.MAC:
        remarks.append("PyTorch's package for macOS also uses Apple's GPU (MPS)")
    return _packaged(build, machine, python, backend, remarks)


def _on_tpu(machine: Machine, requirements: Requirements) -> Answer:
    source = frameworks.SOURCES["jax"]
    python = python_for(frameworks.JAX[0], machine, requirements)
    reason = _platform((frameworks.LINUX,), machine, source)
    if requirements.backend != "jax":
        reason = Reason(kind="tpu", text="on a TPU Keras trains on JAX or TensorFlow", source=source)
    elif python is None:
        reason = Reason(kind="tpu", text="no Python on this machine is supported", source=source)
    if reason is not None or python is None:
        return refused(machine, requirements.backend, *([reason] if reason else []))
    choice = Choice(
        python=python,
        backend="jax",
        packages=("keras", "jax[tpu]"),
        run_options=tpu.RUN_OPTIONS,
        assignments=assignments("jax"),
    )
    return Answer(machine=machine, choices=(choice,))


def python_for(build: Build | CpuBuild, machine: Machine, requirements: Requirements) -> Python | None:
    """Return the newest Python that fits a build: the machine's, else one from uv; None if the user's does not fit."""
    candidates = (requirements.python,) if requirements.python is not None else machine.pythons or ()
    fitting = [python for python in candidates if constraints.has_packages(build, python)]
    newest = max(fitting, key=lambda python: versions.parse(python.version)[:2], default=None)
    return newest or (Python(version=build.python_max) if requirements.python is None else None)


def fetched(python: Python, machine: Machine) -> Iterator[str]:
    """Yield the remark on a Python that is not on the machine."""
    if machine.lacks(python):
        yield f"Python {versions.minor(python.version)} is not on this machine: uv fetches it (https://docs.astral.sh/uv)"


def _limits(excluded: Iterable[Excluded]) -> Iterator[Limit]:
    """Yield the first build that only needs a newer driver, Python or glibc."""
    for entry in excluded:
        (reason, *others) = entry.reasons
        if not others and reason.needs is not None and reason.kind in _NAMES_OF_KINDS:
            text = f"with {_condition(reason)}: {entry.tensorflow}"
            yield Limit(text=text, kind=reason.kind, tensorflow=entry.tensorflow)
            return


_NAMES_OF_KINDS = {"driver": "driver", "python": "Python", "glibc": "glibc"}


def _condition(reason: Reason) -> str:
    """Describe what a build needs: 'driver 580.65.06 or newer', or a branch if the driver is too new for the GPU."""
    if reason.needs is not None and reason.source == constraints.LEGACY_GPUS:
        return f"a driver of branch {reason.needs}"
    return f"{_NAMES_OF_KINDS[reason.kind]} {reason.needs} or newer"
