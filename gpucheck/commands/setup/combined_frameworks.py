"""TensorFlow with JAX or PyTorch in one environment.

They share NVIDIA's packages there: those of cuDNN and NCCL for CUDA 12 and for CUDA 13 contain the same files, so only one CUDA
major fits. TensorFlow's wheels need CUDA 12 and, from 2.20 on, accept ranges of its packages, which include what PyTorch pins and
JAX requires; older releases pin exact versions. PyTorch 2.6.0, its last release for old systems, pins CUDA 12.4, which is below
these ranges and would need an old JAX. Source: METADATA of the wheels; tools/check_symbols.py resolves and reads them.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.compat import versions
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.solver.answer import Answer, Choice, Reason, refused
from gpucheck.core.solver.machine import Machine, Python, Requirements
from gpucheck.core.solver.solve import choose

SOURCE = "https://pypi.org/project/tensorflow/#files"
FIRST_WITH_RANGES = "2.20"
OLDEST_CUDA = "12.5"  # of packages that more than one framework uses
_FETCHED = ("3.13", "3.12", "3.11", "3.10")  # Pythons that uv can fetch


def solve_together(machine: Machine, requirements: Requirements, others: tuple[str, ...]) -> Answer:
    """Return the environment with TensorFlow and the other frameworks.

    Args:
        machine: the target.
        requirements: the user's; the backend is TensorFlow.
        others: "jax", "torch".
    """
    alone = solve(machine, requirements)
    for python in _pythons(machine, requirements):
        choice = _combined(machine, replace(requirements, python=python), others)
        if choice is not None:
            return Answer(machine=machine, choices=(choice,), advice=alone.advice, depends=alone.depends, first=alone.first)
    names = " and ".join(["TensorFlow", *(TITLES[name] for name in others)])
    reason = Reason(kind="platform", text="no combination of their packages works on this machine", source=SOURCE)
    separate = ", ".join(f"gpucheck setup --backend {name}" for name in others)
    advice = (f"Use one environment for each: gpucheck setup, and {separate}",)
    return replace(refused(machine, names, reason, advice=advice), first=alone.first)


def _pythons(machine: Machine, requirements: Requirements) -> Iterator[Python]:
    if requirements.python is not None:
        yield requirements.python
        return
    yield from sorted(machine.pythons or (), key=lambda python: versions.parse(python.version), reverse=True)
    yield from (Python(version=version) for version in _FETCHED)


def _combined(machine: Machine, requirements: Requirements, others: tuple[str, ...]) -> Choice | None:
    """Return the combination for one Python: the frameworks that fit use the GPU, the others the CPU."""
    if machine.tpu is not None and not requirements.cpu:
        return None  # tensorflow-tpu and jax[tpu] need different releases of libtpu
    on_cpu = [_cpu(machine, requirements, name) for name in ("tensorflow", *others)]
    tensorflow = next(filter(_has_ranges, choose(machine, requirements).choices), None)
    builds = [_gpu(machine, requirements, name) for name in others]
    if tensorflow is not None and (tensorflow.cuda is not None or not any(builds)):
        major = _major(tensorflow)
    else:
        numbers = [number for choices in builds for number in map(_major, choices) if number is not None]
        tensorflow, major = on_cpu[0], max(numbers, default=None)
    shared = len(others) > 1 or (tensorflow is not None and tensorflow.cuda is not None)
    fitting = [_of_major(choices, major, OLDEST_CUDA if shared else "0") for choices in builds]
    parts = [tensorflow, *(gpu or cpu for gpu, cpu in zip(fitting, on_cpu[1:], strict=True))]
    known = [part for part in parts if part is not None]
    return _joined(known, machine) if len(known) == len(parts) else None


def _has_ranges(choice: Choice) -> bool:
    """Whether a choice comes from pip and does not pin the CUDA packages."""
    return choice.source == "pip" and (choice.cuda is None or versions.at_least(choice.tensorflow or "", FIRST_WITH_RANGES))


def _cpu(machine: Machine, requirements: Requirements, backend: str) -> Choice | None:
    adapted = replace(
        requirements, backend=backend, cpu=True, tensorflow=requirements.tensorflow if backend == "tensorflow" else None
    )
    return choose(machine, adapted).best


def _gpu(machine: Machine, requirements: Requirements, backend: str) -> list[Choice]:
    if requirements.cpu:
        return []
    choices = choose(machine, replace(requirements, backend=backend, tensorflow=None)).choices
    return [choice for choice in choices if choice.source == "pip" and choice.cuda is not None]


def _major(choice: Choice) -> int | None:
    return int(choice.cuda.partition(".")[0]) if choice.cuda else None


def _of_major(choices: list[Choice], major: int | None, oldest: str) -> Choice | None:
    fitting = (choice for choice in choices if _major(choice) == major and versions.at_least(choice.cuda or "0", oldest))
    return next(fitting, None)


def _joined(parts: list[Choice], machine: Machine) -> Choice:
    """Return one choice with the packages of all: those of other indexes first, so that pip keeps their builds."""
    first, *others = parts
    steps = [(choice.packages, choice.index) for choice in others if choice.index is not None]
    options = [package for package in first.packages if package.startswith("-")]
    plain = [package for choice in parts if choice.index is None for package in choice.packages]
    requirements = [package for package in dict.fromkeys(plain) if package != "keras" and not package.startswith("-")]
    remarks = list(first.remarks)
    if len({_major(part) for part in parts}) > 1:
        remarks += (f"{_title(part)} uses the CPU in this environment" for part in parts if part.cuda is None)
    if first.cuda is None and 12 in map(_major, parts) and machine.system == "linux":
        remarks.append('TensorFlow may find these CUDA libraries: begin a program with tf.config.set_visible_devices([], "GPU")')
    if sum(part.cuda is not None for part in parts) > 1:
        jax = " and XLA_PYTHON_CLIENT_PREALLOCATE=false" if "jax" in [part.backend for part in others] else ""
        remarks.append(f"to use them in one process, set TF_FORCE_GPU_ALLOW_GROWTH=true{jax}: otherwise one takes all GPU memory")
    remarks += (f"to check {_title(part)}, add --backend {part.backend} to the last command" for part in others)
    remarks += (remark for part in others for remark in part.remarks if remark not in remarks)
    return replace(
        first,
        packages=tuple(dict.fromkeys([*(package for packages, _ in steps for package in packages), *options, *requirements])),
        steps=(*steps, ((*options, *requirements), None)),
        also=tuple(_title(part) + (f" (CUDA {part.cuda})" if part.cuda else "") for part in others),
        remarks=tuple(remarks),
    )


def _title(choice: Choice) -> str:
    return TITLES[choice.backend]
