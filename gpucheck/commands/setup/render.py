"""Render an answer as text and as JSON."""

import textwrap
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec

from gpucheck.commands.setup import files
from gpucheck.commands.setup.files import title
from gpucheck.commands.setup.project import Found
from gpucheck.commands.setup.this_machine import Here, Installed, Place
from gpucheck.core.compat import downloads, versions
from gpucheck.core.reports.shared.words import clean
from gpucheck.core.solver import commands, constraints
from gpucheck.core.solver.answer import Answer, Choice, Excluded
from gpucheck.core.solver.machine import Machine

_MACHINE_FIELDS = ("system", "architecture", "os_name", "glibc", "wsl", "driver", "cuda", "gpus", "tpu")  # as they are
_CHOICE_FIELDS = ("cuda", "cudnn", "backend", "source", "image", "packages", "index")
_MBIT_PER_SECOND = 100  # network speed for the printed time
_OTHERS = 3  # number of other releases to print
ELSEWHERE = Here()


def render(answer: Answer, style: str, width: int, here: Here = ELSEWHERE) -> str:
    """Render in a format of ``--format``; ``width`` is for the terminal. Raises files.NoFile."""
    if style == "terminal":
        return terminal(answer, width, here)
    return as_json(answer, here) if style == "json" else files.FORMATS[style](answer)


def terminal(answer: Answer, width: int, here: Here) -> str:
    """Render as text: what to do, the commands first, then the releases that do not work, and why."""
    blocks = [_wrapped(_machine(answer.machine), width)]
    blocks += [list(_installed(here.installed, answer.machine, width))] if here.installed else []
    blocks += [list(_project(here.project, width))] if here.project else []
    best = answer.best
    blocks.append(_wrapped(f"First: {answer.first}", width) if answer.first else [])
    if best is None:
        what = f"with {here.excluding}, but one works without it" if here.excluding else "on this machine"
        more = " What you can do:" if answer.advice else ""
        blocks.append([f"No combination works {what}.{more}", *_bullets(answer.advice, width)])
    else:
        blocks += list(_best(best, answer.machine, here, width))
        blocks.append(_bullets(answer.advice, width))
    blocks.append(_wrapped(f"Depends on: {'; '.join(answer.depends)}", width) if answer.depends else [])
    others = [_short(choice) for choice in answer.choices[1:]]
    rest = f" and {len(others) - _OTHERS} more (--tensorflow)" if len(others) > _OTHERS else ""
    blocks.append(_wrapped(f"Also works: {', '.join(others[:_OTHERS])}{rest}", width) if others else [])
    blocks.append(list(_out(answer.excluded, best is not None, width)))
    blocks.append([f"{limit.text[0].upper()}{limit.text[1:]}" for limit in answer.limits])
    return "\n".join(files.text(block) for block in blocks if block)


def _best(best: Choice, machine: Machine, here: Here, width: int) -> Iterator[list[str]]:
    """Yield the blocks of the best choice: its description, the commands, how to use and remove it, remarks."""
    folder = here.place.folder if here.place else commands.default_folder(machine)
    head = f"In a new environment: {title(best)}" if here.installed or here.project else title(best)
    no_toolkit = ["pip installs CUDA with TensorFlow: the machine needs only the driver."] if _pip_installs_cuda(best) else []
    yield [head, *_wrapped(" ".join(filter(None, [_size(best, machine), *no_toolkit])), width)]
    yield [f"  {line}" for line in _commands(best, machine, here, folder)]
    if best.source != "image":
        yield list(_use(best, machine, here, folder))
    notes = [*best.remarks, *(f"{entry.variable}: {entry.reason}" for entry in best.assignments)]
    notes += _of_place(here.place, files.measured(best, machine)) if here.place and best.source == "pip" else []
    if best.source == "image" and here.package is None:
        notes.append("the second command checks the image, which does not contain gpucheck, from the folder of gpucheck's source")
    elif best.source == "image":
        notes.append("the second command checks the image, which does not contain gpucheck, with this machine's gpucheck")
    yield _bullets(notes, width)


def _pip_installs_cuda(choice: Choice) -> bool:
    every = (package for packages, _ in commands.installs(choice) for package in packages)
    return choice.source == "pip" and any("[and-cuda]" in package for package in every)


def _of_place(place: Place, measured: downloads.Size | None) -> Iterator[str]:
    if place.remark:
        yield place.remark
    if measured and place.free_bytes is not None and place.free_bytes < (measured.download_mb + measured.disk_mb) * 1e6:
        yield f"only {place.free_bytes / 1e9:.1f} GB are free for {place.folder}: choose a folder on another disk"


def _commands(best: Choice, machine: Machine, here: Here, folder: str) -> tuple[str, ...]:
    kept = commands.keep(best, folder) if best.source == "pip" and machine.system != "win32" else ()
    return (*here.before, *commands.create(best, machine, folder), *kept, commands.check(best, machine, folder, here.package))


def _size(choice: Choice, machine: Machine) -> str:
    """Return 'About 633 MB to download (51 s at 100 Mbit/s), and 2.1 GB on disk'; '' if it was not measured."""
    measured = files.measured(choice, machine)
    if measured is None:
        return ""
    seconds = measured.download_mb * 8 / _MBIT_PER_SECOND
    duration = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
    download, disk = _megabytes(measured.download_mb), _megabytes(measured.disk_mb)
    return f"About {download} to download ({duration} at {_MBIT_PER_SECOND} Mbit/s), and {disk} on disk."


def _megabytes(number: int) -> str:
    return f"{number} MB" if number < 1000 else f"{number / 1000:.1f} GB"


def _use(best: Choice, machine: Machine, here: Here, folder: str) -> Iterator[str]:
    """Yield other commands to run, now and later."""
    if here.place is not None and best.source == "pip":
        words = ["gpucheck setup", *here.options, "--apply", commands.quoted(folder, machine.system)]
        yield f"In one command:     {' '.join(words)}"
    yield f"In each new terminal:  {commands.activate(best, folder, machine.system)}"
    for entry in best.assignments if machine.system == "win32" else ():
        yield f"                       {commands.export(entry, folder, machine.system)}"
    yield f"To remove it:          {commands.remove(best, folder, machine.system)}"


def _installed(installed: Installed, machine: Machine, width: int) -> Iterator[str]:
    yield from _wrapped(f"Nothing to install: {installed.title} in {installed.folder} fits this machine.", width)
    yield "  " + commands.check(installed.choice, machine, installed.folder)
    for entry in installed.choice.assignments:
        yield from _wrapped(f"It needs {entry.variable}: {commands.export(entry, installed.folder, machine.system)}", width)


def _project(found: tuple[Found, ...], width: int) -> Iterator[str]:
    yield "In this folder:"
    for entry in found:
        place = entry.file if entry.line is None else f"{entry.file}:{entry.line}"
        yield f"  {place}: {clean(entry.text)}"
        judged = entry.reason or f"works here with Python {entry.python}"
        yield from textwrap.wrap(judged, width, initial_indent="    ", subsequent_indent="    ")
        if entry.change:
            yield "    run:" if entry.line is None else "    replace it with:"
            yield from (f"      {line}" for line in entry.change.splitlines())


def _machine(machine: Machine) -> str:
    system = machine.os_name or constraints.SYSTEMS.get(machine.system, machine.system)
    parts = [f"{system} on {machine.architecture}" if machine.architecture else system]
    parts += ["WSL2"] if machine.wsl else []
    parts += [f"glibc {machine.glibc}"] if machine.glibc else []
    parts += [f"driver {machine.driver}"] if machine.driver else []
    kinds = list(dict.fromkeys([*(gpu.title for gpu in machine.gpus or ()), *(gpu.title for gpu in machine.others)]))
    gpus = "GPU unknown" if machine.gpus is None else "no GPU" if machine.left_open is not None else "no NVIDIA GPU"
    parts.append(", ".join(kinds) or gpus)
    parts += [f"TPU {machine.tpu}"] if machine.tpu else []
    if machine.pythons is not None:
        parts.append("Python " + ", ".join(_newest_first(machine)) if machine.pythons else "no Python")
    parts += [f"skipped, because its file system did not respond: {folder}" for folder in machine.silent]
    return "Machine: " + "; ".join(parts)


def _newest_first(machine: Machine) -> list[str]:
    return sorted((python.version for python in machine.pythons or ()), key=versions.parse, reverse=True)


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


def as_json(answer: Answer, here: Here) -> str:
    """Render as JSON: choices, excluded, limits, machine."""
    machine = answer.machine
    pythons = machine.pythons
    installed = here.installed
    content = {
        "choices": [_choice(choice, machine, here) for choice in answer.choices],
        "installed": None if installed is None else {"title": installed.title, "folder": installed.folder},
        "project": here.project,
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


def _choice(choice: Choice, machine: Machine, here: Here) -> dict[str, Any]:
    folder = here.place.folder if here.place else commands.default_folder(machine)
    measured = files.measured(choice, machine)
    image = choice.source == "image"
    return {
        "tensorflow": choice.tensorflow,
        "keras": choice.keras,
        "python": choice.python.version,
        **{name: getattr(choice, name) for name in _CHOICE_FIELDS},
        "download_mb": measured.download_mb if measured else None,
        "disk_mb": measured.disk_mb if measured else None,
        "commands": _commands(choice, machine, here, folder)[:-1],
        "check": commands.check(choice, machine, folder, here.package),
        "activate": None if image else commands.activate(choice, folder, machine.system),
        "remove": None if image else commands.remove(choice, folder, machine.system),
        "environment": {entry.variable: entry.value for entry in choice.assignments},
        "remarks": choice.remarks,
    }


def proven(choice: Choice, folder: str, good: bool, text: str, machine: Machine) -> str:
    """Render the result of an installation."""
    name = title(choice)
    if not good:
        return (
            f"{name} was installed in {folder}, but does not train here: {clean(text)}\n"
            f"  diagnose it:   {commands.check(choice, machine, folder)}\n"
            f"  remove it:     {commands.remove(choice, folder, machine.system)}\n"
        )
    use = commands.activate(choice, folder, machine.system)
    remove = commands.remove(choice, folder, machine.system)
    return f"Success: {name} trains in {folder} ({clean(text)}).\n  use it:     {use}\n  remove it:  {remove}\n"
