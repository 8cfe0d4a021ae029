"""Assignments saved in the activation of a virtual or conda environment; deactivation undoes them.

A virtual environment's ``bin/activate`` gets two marked blocks (one at its end, one in its ``deactivate``), a conda
environment one file each in ``activate.d`` and ``deactivate.d``. They contain the saved assignments; nothing is checked later.
"""

import os
import re

from gpucheck.core.model import Assignment, Operation
from gpucheck.core.system.read import regular
from gpucheck.core.system.shells import statement
from gpucheck.core.system.write import replace

BEGIN, END = "# >>> gpucheck env >>>", "# <<< gpucheck env <<<"
FILE = "gpucheck-env.sh"
SCRIPT_BYTES_MAX = 1 << 20  # an activation script has a few KB
# The variables that belong to an environment. Which GPUs a job may use belongs to the job, and is never saved.
PERSISTENT = ("LD_LIBRARY_PATH", "XLA_FLAGS", "CUDA_CACHE_PATH", "TF_FORCE_GPU_ALLOW_GROWTH")
_BLOCK = re.compile(rf"^[ \t]*{re.escape(BEGIN)}\n.*?^[ \t]*{re.escape(END)}\n", re.MULTILINE | re.DOTALL)
_DEACTIVATE = re.compile(r"^deactivate *\(\) *\{[ \t]*\n", re.MULTILINE)


class NoEnvironment(Exception):
    """An environment without an activation script to change; the message gives the reason in one line."""


def persistent(assignments: tuple[Assignment, ...]) -> tuple[Assignment, ...]:
    """Return the assignments that belong to the environment rather than to one shell or job."""
    return tuple(
        assignment
        for assignment in assignments
        if assignment.apply and assignment.operation is not Operation.UNSET and assignment.variable in PERSISTENT
    )


def files(prefix: str, kind: str | None) -> tuple[str, ...]:
    """Return the files that contain, or would contain, the assignments.

    Args:
        prefix: the environment's folder.
        kind: "venv", "conda" or None, as the interpreter probe reports it.

    Raises:
        NoEnvironment: it has no activation script.
    """
    if kind == "conda":
        return tuple(f"{prefix}/etc/conda/{when}.d/{FILE}" for when in ("activate", "deactivate"))
    script = f"{prefix}/bin/activate"
    if kind != "venv" or not os.path.isfile(script):
        raise NoEnvironment(f"{prefix} is not a virtual or conda environment with an activation script for sh")
    return (os.path.realpath(script),)


def install(assignments: tuple[Assignment, ...], prefix: str, kind: str | None) -> list[str]:
    """Write the assignments into the environment's activation scripts, replacing an earlier installation.

    Returns:
        The changed files; empty if nothing changed.

    Raises:
        NoEnvironment: see ``files``.
        OSError: a file could not be read or written; each file is then either unchanged or complete.
    """
    paths = files(prefix, kind)
    if kind == "conda":
        texts: tuple[str, ...] = (_block(_set(assignments)), _block(_restore(assignments)))
    else:
        texts = (_with_blocks(_without_blocks(_read(paths[0])), assignments),)
    changed = []
    for path, text in zip(paths, texts, strict=True):
        if not os.path.exists(path) or _read(path) != text:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            replace(path, text.encode("utf-8", "surrogateescape"))
            changed.append(path)
    return changed


def uninstall(prefix: str, kind: str | None) -> list[str]:
    """Remove exactly what ``install`` added. Return the changed or removed files. Raises like ``install``."""
    changed = []
    for path in files(prefix, kind):
        if not os.path.exists(path):
            continue
        if kind == "conda":
            os.unlink(path)
        elif (old := _read(path)) == (new := _without_blocks(old)):
            continue
        else:
            replace(path, new.encode("utf-8", "surrogateescape"))
        changed.append(path)
    return changed


def installed(prefix: str, kind: str | None) -> bool:
    """Whether the assignments are installed. Raises like ``install``."""
    return any(os.path.exists(path) and BEGIN in _read(path) for path in files(prefix, kind))


def _set(assignments: tuple[Assignment, ...]) -> list[str]:
    """Return lines that save the old values and set the new ones. A repeated activation changes nothing."""
    names = dict.fromkeys(assignment.variable for assignment in assignments)
    old = [f'_GPUCHECK_OLD_{name}="${{{name}:-}}"; _GPUCHECK_HAD_{name}="${{{name}+yes}}"' for name in names]
    new = [f"{statement(assignment)}  # {assignment.reason}" for assignment in assignments]
    return ['if [ -z "${_GPUCHECK_ENV:-}" ] ; then', *(f"    {line}" for line in [*old, *new, "_GPUCHECK_ENV=set"]), "fi"]


def _restore(assignments: tuple[Assignment, ...]) -> list[str]:
    lines = []
    for name in dict.fromkeys(assignment.variable for assignment in assignments):
        lines += [
            f'if [ -n "${{_GPUCHECK_HAD_{name}:-}}" ] ; then export {name}="$_GPUCHECK_OLD_{name}" ; else unset {name} ; fi',
            f"unset _GPUCHECK_OLD_{name} _GPUCHECK_HAD_{name}",
        ]
    return ['if [ -n "${_GPUCHECK_ENV:-}" ] ; then', *(f"    {line}" for line in [*lines, "unset _GPUCHECK_ENV"]), "fi"]


def _block(lines: list[str], indent: str = "") -> str:
    return "".join(f"{indent}{line}\n" for line in [BEGIN, *lines, END])


def _with_blocks(text: str, assignments: tuple[Assignment, ...]) -> str:
    function = _DEACTIVATE.search(text)
    if function is not None:
        text = text[: function.end()] + _block(_restore(assignments), "    ") + text[function.end() :]
    # A last line without a newline is kept: the mark starts on a new line, and removal must restore the file exactly.
    return text + ("" if text.endswith("\n") or not text else f"{_JOINT}\n") + _block(_set(assignments))


_JOINT = " # gpucheck env: the line had no end"


def _without_blocks(text: str) -> str:
    text = _BLOCK.sub("", text)
    return text.removesuffix(f"{_JOINT}\n") if text.endswith(f"{_JOINT}\n") else text.replace(_JOINT, "")


def _read(path: str) -> str:
    return regular(path, SCRIPT_BYTES_MAX).decode("utf-8", "surrogateescape")
