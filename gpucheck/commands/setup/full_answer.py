"""The whole answer: the choices, the driver to install first, alternatives, and assumptions about the machine."""

from collections.abc import Iterator

from msgspec.structs import replace

from gpucheck.core.compat import frameworks, vendors, versions
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.compat.tensorflow import RELEASES, recommended
from gpucheck.core.solver import constraints
from gpucheck.core.solver.answer import Answer, Choice
from gpucheck.core.solver.machine import Machine, Python, Requirements
from gpucheck.core.solver.solve import choose

_WSL = "In WSL2 an NVIDIA GPU works, with a driver that supports it: install WSL2, and run gpucheck setup there"
_DOWNLOAD = "https://www.nvidia.com/drivers"


def solve(machine: Machine, requirements: Requirements | None = None) -> Answer:
    """Return the whole answer for a machine."""
    requirements = requirements or Requirements()
    answer = choose(machine, requirements)
    return replace(
        answer,
        first=_first(answer, requirements),
        advice=tuple(dict.fromkeys((*answer.advice, *_advice(answer, requirements)))),
        depends=tuple(_depends(answer, requirements)),
    )


def _first(answer: Answer, requirements: Requirements) -> str | None:
    """Return the driver to install if nothing works with the current one."""
    machine = answer.machine
    another_cause = requirements.cpu or machine.tpu is not None or machine.jetson or machine.musl
    if answer.choices or another_cause or machine.driver is None or not machine.gpus:
        return None
    too_new = constraints.driver_for_gpus(machine)
    needs = [too_new.needs] if too_new is not None and too_new.source == constraints.LEGACY_GPUS else constraints.drivers(machine)
    found = [(need, _opened(constraints.with_driver(machine, need), requirements)) for need in needs if need is not None]
    title = _title(requirements)
    step = next((one for one in found if any(name.startswith(title) for name in one[1])), None)
    if step is None and not _opened(machine, requirements):
        step = next((one for one in found if one[1]), None)
    if step is None:
        return None
    need, opened = step
    how = "Install" if versions.at_least(machine.driver, need) else "Update to"
    where = "; install it on Windows, nothing inside WSL2" if machine.wsl else ""
    driver = constraints.driver_words(replace(machine, wsl=False), need)
    return f"{how} {driver} ({_DOWNLOAD}{where}). It enables: {', '.join(opened)}"


def _title(requirements: Requirements) -> str:
    return "TensorFlow" if requirements.backend == "tensorflow" else f"Keras on {TITLES[requirements.backend]}"


def _opened(machine: Machine, requirements: Requirements) -> list[str]:
    """Return the names of the frameworks that work on a machine, the requested one first."""
    found = []
    for backend in dict.fromkeys((requirements.backend, *TITLES)):
        adapted = requirements if backend == requirements.backend else replace(requirements, backend=backend, tensorflow=None)
        choice = choose(machine, adapted).best
        if choice is not None and choice.cuda is not None:
            found.append(_name(choice))
    return found


def _name(choice: Choice) -> str:
    name = f"TensorFlow {choice.tensorflow}" if choice.tensorflow else f"Keras on {TITLES[choice.backend]}"
    return f"{name} (NVIDIA's image)" if choice.source == "image" else name


def _advice(answer: Answer, requirements: Requirements) -> Iterator[str]:
    machine, best = answer.machine, answer.best
    if machine.system == "win32" and machine.gpus != () and not requirements.cpu:
        opened = _opened(replace(machine, system="linux", wsl=True), requirements)
        yield f"Available in WSL2: {', '.join(opened)}. Install WSL2, and run gpucheck setup there" if opened else _WSL
    if best is None and (machine.musl or _first_reason(answer) == "glibc"):
        yield f"Use a container with {'glibc' if machine.musl else 'a newer glibc'}, such as python:3.12-slim"
    if (
        machine.system == "darwin"
        and machine.architecture != "x86_64"
        and requirements.backend == "tensorflow"
        and not requirements.cpu
    ):
        yield (
            f"For Apple's GPU: {' '.join(vendors.METAL_PACKAGES)} (Python 3.9 to {vendors.METAL_LAST_PYTHON}, {vendors.METAL}),"
            " the last release of Apple's plugin"
        )
    if machine.gpus == () and any(gpu.vendor == "amd" and not (gpu.chip or gpu.accelerator) for gpu in machine.others):
        yield 'There is an AMD GPU of unknown model: for ROCm, specify it, for example gpucheck setup --for "RX 7900 XTX"'
    if any(gpu.vendor == "intel" for gpu in machine.others) and machine.gpus == () and requirements.backend != "torch":
        yield "Intel GPUs are not used: PyTorch has a build for them (https://download.pytorch.org/whl/xpu)"
    if not requirements.cpu and _is_poor(answer, requirements):
        for backend in TITLES:
            if backend != requirements.backend:
                yield from _other_framework(answer, backend, requirements)
    accelerated = machine.gpus != () or machine.others or machine.tpu is not None
    if best is None and not requirements.cpu and accelerated and choose(machine, replace(requirements, cpu=True)).choices:
        yield "To train on the CPU, add --cpu"


def _first_reason(answer: Answer) -> str | None:
    return answer.excluded[0].reasons[0].kind if answer.excluded and answer.excluded[0].reasons else None


def _is_poor(answer: Answer, requirements: Requirements) -> bool:
    """Whether another framework may work better: nothing works, or only an image, an old release, or the CPU despite a GPU."""
    machine, best = answer.machine, answer.best
    accelerated = bool(machine.gpus) or machine.others or machine.tpu is not None or _is_mac(machine)
    if best is None:
        return True
    if requirements.backend != "tensorflow" or not accelerated:
        return False
    if best.source != "pip" or best.tensorflow is None or (best.cuda is None and machine.tpu is None):
        return True
    limited = machine.tpu is not None and len(best.remarks) > 1
    newest = recommended().partition("==")[2].rstrip(".*")
    return limited or (machine.tpu is None and not versions.at_least(best.tensorflow, newest) and requirements.tensorflow is None)


def _is_mac(machine: Machine) -> bool:
    return (machine.system, machine.architecture) == frameworks.MAC


def _other_framework(answer: Answer, backend: str, requirements: Requirements) -> Iterator[str]:
    """Yield the advice to use another framework, if it uses the accelerator (or the CPU, if nothing else works)."""
    machine = answer.machine
    choice = choose(machine, replace(requirements, backend=backend, tensorflow=None)).best
    if choice is None:
        return
    mps = backend == "torch" and _is_mac(machine)
    rocm = any(gpu.vendor == "amd" for gpu in machine.others) and not _is_for_cpu(choice)
    accelerated = choice.cuda is not None or rocm or mps or machine.tpu is not None
    if not accelerated and answer.best is not None:
        return
    what = " on Apple's GPU (MPS)" if mps else f" with CUDA {choice.cuda}" if choice.cuda else " with ROCm" if rocm else ""
    what = what if accelerated else " on the CPU"
    name = TITLES[backend]
    if backend == "tensorflow":
        yield f"TensorFlow {choice.tensorflow or ''} works here{what}: leave out --backend {requirements.backend}".replace(
            "  ", " "
        )
    else:
        yield f"Keras trains on {name} here{what}: add --backend {backend}"


def _is_for_cpu(choice: Choice) -> bool:
    return choice.source == "pip" and not any("rocm" in package for package in choice.packages)


def _depends(answer: Answer, requirements: Requirements) -> Iterator[str]:
    """Yield the properties that a description does not give, with the assumptions about them."""
    machine, best = answer.machine, answer.best
    left_open = machine.left_open or ()
    floor = _glibc(best)
    if "system" in left_open:
        glibc = f" with glibc {floor} or newer" if floor else ""
        yield f"the system (assumed: Linux on {machine.architecture or 'x86_64'}{glibc})"
    elif "glibc" in left_open and floor:
        yield f"glibc ({floor} or newer)"
    if "architecture" in left_open and "system" not in left_open:
        yield f"the processor (assumed: {machine.architecture or 'any with packages'})"
    if "gpu" in left_open and not requirements.cpu:
        assumed = "an NVIDIA GPU that these packages have code for" if _uses_cuda(best) else "none"
        yield f"the GPU (assumed: {assumed})"
    has_gpu = machine.gpus or (machine.gpus is None and _uses_cuda(best))
    if "driver" in left_open and has_gpu and not (requirements.cpu or machine.jetson):
        need = _lowest_driver(answer, requirements)
        yield f"the driver ({need} or newer{', on Windows' if machine.wsl else ''})" if need else "the driver"
    if "python" in left_open and requirements.python is None and best is not None and best.source == "pip":
        yield f"Python ({_pythons(machine, requirements, best) or best.python.version})"
    if "jetpack" in left_open and best is not None and best.image == vendors.JETSON_IMAGE:
        yield "JetPack (assumed: 6)"


def _uses_cuda(best: Choice | None) -> bool:
    return best is not None and best.cuda is not None


def _glibc(best: Choice | None) -> str | None:
    """Return the minimum glibc for a choice."""
    if best is None or best.source != "pip":
        return None
    if best.tensorflow is not None:
        release = RELEASES.get(versions.minor(best.tensorflow))
        return release.glibc_floor if release else None
    builds = (*frameworks.BUILDS.get(best.backend, ()), *frameworks.CPU_BUILDS.get(best.backend, ()))
    return next((build.glibc for build in builds if set(build.packages) <= set(best.packages) and build.url == best.index), None)


def _lowest_driver(answer: Answer, requirements: Requirements) -> str | None:
    """Return the oldest driver with which the answer stays the same."""
    if answer.best is None:
        return None
    same = answer.best.packages, answer.best.image, answer.best.index
    for need in constraints.drivers(answer.machine):
        best = choose(constraints.with_driver(answer.machine, need), requirements).best
        if best is not None and (best.packages, best.image, best.index) == same:
            return need
    return None


def _pythons(machine: Machine, requirements: Requirements, best: Choice) -> str | None:
    """Return the Python versions with which the answer stays the same: '3.9 to 3.13'."""
    fitting = []
    for minor in range(7, 16):
        python = Python(version=f"3.{minor}")
        one = choose(machine, replace(requirements, python=python)).best
        if one is not None and one.packages == best.packages:
            fitting.append(python.version)
    return f"{fitting[0]} to {fitting[-1]}" if len(fitting) > 1 else next(iter(fitting), None)
