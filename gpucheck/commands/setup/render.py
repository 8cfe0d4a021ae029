"""Render an answer as text, as JSON, and as files for pip, Docker and conda."""

import textwrap
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec

from gpucheck.core.compat import versions
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.reports.shared.words import clean
from gpucheck.core.solver import commands
from gpucheck.core.solver.answer import Answer, Choice, Excluded
from gpucheck.core.solver.machine import Machine
from gpucheck.core.system.shells import word

_MACHINE_FIELDS = ("system", "architecture", "os_name", "glibc", "wsl", "driver", "cuda", "gpus", "tpu")  # as they are
_SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


class NoFile(Exception):
    """The answer can't be written in this format; the message is one line."""


def terminal(answer: Answer, width: int = 80) -> str:
    """Render as text: the commands first, then the releases that do not work, and why."""
    blocks = [_wrapped(_machine(answer.machine), width)]
    best = answer.best
    blocks.append(_wrapped(f"First: {answer.first}", width) if answer.first else [])
    if best is None:
        more = " What you can do:" if answer.advice else ""
        blocks.append([f"No combination works on this machine.{more}", *_bullets(answer.advice, width)])
    else:
        blocks.append([title(best)])
        blocks.append([f"  {line}" for line in (*commands.make(best, answer.machine), commands.check(best, answer.machine))])
        notes = [*best.remarks, *(f"{entry.variable}: {entry.reason}" for entry in best.assignments)]
        blocks.append(_bullets(notes, width))
        blocks.append(_bullets(answer.advice, width))
    blocks.append(_wrapped(f"Depends on: {'; '.join(answer.depends)}", width) if answer.depends else [])
    others = [_short(choice) for choice in answer.choices[1:]]
    blocks.append(_wrapped(f"Also works: {'; '.join(others)}", width) if others else [])
    blocks.append(list(_out(answer.excluded, best is not None, width)))
    blocks.append([f"{limit.text[0].upper()}{limit.text[1:]}" for limit in answer.limits])
    return "\n".join(_text(block) for block in blocks if block)


def _text(lines: Iterable[str]) -> str:
    """Return lines as text; no name of a GPU or system begins another line, or controls a terminal."""
    return "".join(f"{clean(line)}\n" for line in lines)


def title(choice: Choice) -> str:
    """Return 'TensorFlow 2.20.0, Python 3.12, CUDA 12.5, cuDNN 9.3, Keras >=3.10.0'."""
    framework = f"TensorFlow {choice.tensorflow}" if choice.tensorflow else f"Keras on {TITLES[choice.backend]}"
    parts = [framework, f"Python {versions.minor(choice.python.version)}"]
    parts += [f"CUDA {choice.cuda}"] if choice.cuda else []
    parts += [f"cuDNN {choice.cudnn}"] if choice.cudnn else []
    parts += [f"Keras {choice.keras}"] if choice.tensorflow else []
    return ", ".join(parts)


def _machine(machine: Machine) -> str:
    system = machine.os_name or _SYSTEMS.get(machine.system, machine.system)
    parts = [f"{system} on {machine.architecture}" if machine.architecture else system]
    parts += ["WSL2"] if machine.wsl else []
    parts += [f"glibc {machine.glibc}"] if machine.glibc else []
    parts += [f"driver {machine.driver}"] if machine.driver else []
    kinds = list(dict.fromkeys([*(gpu.title for gpu in machine.gpus or ()), *(gpu.title for gpu in machine.others)]))
    gpus = "GPU unknown" if machine.gpus is None else "no GPU" if machine.left_open is not None else "no NVIDIA GPU"
    parts.append(", ".join(kinds) or gpus)
    parts += [f"TPU {machine.tpu}"] if machine.tpu else []
    if machine.pythons is not None:
        parts.append("Python " + ", ".join(python.version for python in machine.pythons) if machine.pythons else "no Python")
    parts += [f"skipped, because its file system did not respond: {folder}" for folder in machine.silent]
    return "Machine: " + "; ".join(parts)


def _short(choice: Choice) -> str:
    name = choice.tensorflow or " ".join(part for part in choice.packages if part != "keras" and not part.startswith("-"))
    if choice.index:
        name += f" ({choice.index.rpartition('/')[2]})"
    return f"{name} (with {choice.assignments[0].variable} set)" if choice.tensorflow and choice.assignments else name


def _out(excluded: tuple[Excluded, ...], newer: bool, width: int) -> Iterator[str]:
    """Yield why newer releases do not work: the first reason of each, grouped by reason."""
    if excluded:
        yield "Newer releases do not work here:" if newer else "Why:"
    for reason, group in groupby(excluded, key=lambda entry: entry.reasons[0]):
        names = [entry.tensorflow for entry in group]
        name = names[0] if len(names) == 1 else f"{names[-1]} to {names[0]}"
        yield from textwrap.wrap(f"{name}: {reason.text}", width, initial_indent="  ", subsequent_indent="    ")
        yield f"    {reason.source}"


def _bullets(lines: Any, width: int) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, width, initial_indent="  - ", subsequent_indent="    ")]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def as_json(answer: Answer, width: int = 80) -> str:
    """Render as JSON: choices, excluded, limits, machine."""
    machine = answer.machine
    pythons = machine.pythons
    content = {
        "choices": [_choice(choice, machine) for choice in answer.choices],
        "excluded": answer.excluded,
        "limits": answer.limits,
        "first": answer.first,
        "advice": answer.advice,
        "depends": answer.depends,
        "machine": {
            **{name: getattr(machine, name) for name in _MACHINE_FIELDS},
            "pythons": None if pythons is None else [{"version": one.version, "executable": one.executable} for one in pythons],
            "silent": machine.silent,
            "uv": machine.uv,
        },
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def _choice(choice: Choice, machine: Machine) -> dict[str, Any]:
    return {
        "tensorflow": choice.tensorflow,
        "keras": choice.keras,
        "python": choice.python.version,
        "cuda": choice.cuda,
        "cudnn": choice.cudnn,
        "backend": choice.backend,
        "source": choice.source,
        "image": choice.image,
        "packages": choice.packages,
        "index": choice.index,
        "commands": commands.make(choice, machine),
        "check": commands.check(choice, machine),
        "environment": {entry.variable: entry.value for entry in choice.assignments},
        "remarks": choice.remarks,
    }


def _pip_choice(answer: Answer) -> Choice:
    best = answer.best
    if best is None:
        raise NoFile("no combination works on this machine; `gpucheck setup` prints why")
    if best.source == "image":
        raise NoFile(f"no package works on this machine, only the image {best.image}: --format dockerfile")
    return best


def _header(choice: Choice) -> list[str]:
    return [f"# {title(choice)}; made by gpucheck setup", *(f"# {remark}" for remark in choice.remarks)]


def requirements(answer: Answer, width: int = 80) -> str:
    """Render a file for `pip install -r`."""
    choice = _pip_choice(answer)
    (packages, index), *rest = commands.installs(choice)
    lines = _header(choice)
    if index is not None:
        lines.append(f"# first: pip install {' '.join(packages)} --index-url {index}")
        packages = tuple(package for more, _ in rest for package in more)
    for entry in choice.assignments:
        value = entry.value.replace("{environment}", "$VIRTUAL_ENV")
        lines.append(f"# set {entry.variable} ({entry.reason}): {value}")
    return _text((*lines, *packages))


def dockerfile(answer: Answer, width: int = 80) -> str:
    """Render a Dockerfile."""
    best = answer.best
    if best is not None and best.source == "image":
        return _text((*_header(best), f"FROM {best.image}"))
    choice = _pip_choice(answer)
    minor = versions.minor(choice.python.version)
    lines = [*_header(choice), f"FROM python:{minor}-slim"]
    for packages, index in commands.installs(choice):
        words = " ".join(f'"{package}"' for package in packages)
        lines.append(f"RUN pip install --no-cache-dir {words}" + (f" --index-url {index}" if index else ""))
    for entry in choice.assignments:
        lines.append(f"# {entry.reason}")
        lines.append(f'ENV {entry.variable}="{entry.value.replace("{environment}", "/usr/local")}"')
    return _text(lines)


def conda(answer: Answer, width: int = 80) -> str:
    """Render a file for `conda env create -f`: conda's Python, and the packages from pip."""
    choice = _pip_choice(answer)
    if choice.index is not None:
        raise NoFile(f"a conda file cannot install only PyTorch from {choice.index}, and Keras from PyPI: --format dockerfile")
    lines = _header(choice)
    for entry in choice.assignments:
        value = entry.value.replace("{environment}", "$CONDA_PREFIX")
        lines.append(f"# after conda activate: export {entry.variable}={value}")
    lines += ["name: tensorflow", "channels: [conda-forge]", "dependencies:"]
    lines += [f"  - python={versions.minor(choice.python.version)}", "  - pip", "  - pip:"]
    return _text((*lines, *(f'      - "{package}"' for package in choice.packages)))


def proven(choice: Choice, folder: str, good: bool, text: str, machine: Machine) -> str:
    """Render the result of an installation."""
    name = title(choice)
    if not good:
        return (
            f"{name} was installed in {folder}, but it does not train here: {clean(text)}\n"
            f"  look further:  {commands.check(choice, machine, folder)}\n"
            f"  remove it:     rm -rf {word(folder)}\n"
        )
    activate = f". {word(folder)}/bin/activate" if machine.system != "win32" else f"{folder}\\Scripts\\activate"
    return f"Good: {name} trains in {folder} ({clean(text)}).\n  use it:  {activate}\n"


FORMATS: dict[str, Callable[[Answer, int], str]] = {
    "terminal": terminal,
    "json": as_json,
    "requirements": requirements,
    "dockerfile": dockerfile,
    "conda": conda,
}
