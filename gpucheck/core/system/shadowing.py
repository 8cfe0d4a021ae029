"""Detect files that shadow a module of the same name: a user's ``random.py``, ``tensorflow.py`` or ``logging.py``.

Python searches the program's own folder and PYTHONPATH first. This module may only import what Python has loaded before those
are on its path: any other module may itself be shadowed. Used by parent and children.
"""

from __future__ import annotations

import os
import sys

ADVICE = "rename it and delete its __pycache__, or start from another folder"
_INSTALLED = ("site-packages", "dist-packages")
_OFTEN = ("__main__", "sitecustomize", "usercustomize")  # several of them on one path are normal
_SEVERAL = 5
_reported: list[str] = []


def shadowing_files(error: BaseException) -> dict[str, str]:
    """Find the modules that were loaded from a file that shadows the installed one.

    A module of the standard library is always included. A package may be shadowed on purpose, by a checkout of its source, so
    it is included only if the exception passes through it or mentions it.

    Args:
        error: the exception.

    Returns:
        module -> absolute path of its file, the exception's origin first; at most five. Never raises.
    """
    try:
        return _find(error)
    except Exception:  # a module that is used here may itself be shadowed
        return {}


def raised_in_shadowing_file(error: BaseException) -> bool:
    """Whether such a file ended the program: it raised the exit. After a signal, gpucheck itself raises it."""
    inner: set[str] = set()
    for name, _ in reversed(_frames(error) if type(error) is SystemExit else []):
        if name.partition(".")[0] == "gpucheck":
            break
        inner.add(name)
    return bool(inner) and not inner.isdisjoint(shadowing_files(error))


def report_shadowing_file(error: BaseException) -> bool:
    """Write the first shadowing file to standard error, once; return whether one was found."""
    for name, file in [] if _reported else shadowing_files(error).items():
        other_path = _of_another_python(file)
        advice = f"it belongs to another Python, so remove {other_path} from PYTHONPATH" if other_path else ADVICE
        line = f"gpucheck: {file} shadows the installed module {name}: {advice}\n"
        _reported.append(line)
        try:  # noqa: SIM105 - contextlib may be shadowed
            os.write(2, line.encode("utf-8", "backslashreplace"))
        except OSError:  # it was closed
            pass
        break
    return bool(_reported)


def _find(error: BaseException) -> dict[str, str]:
    passed = _passed(error)
    loaded = [(name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()) if "." not in name]
    text = str(error)
    result: dict[str, str] = {}
    for name, file in [*passed.items(), *((name, file) for name, file in loaded if file)]:
        hidden = None if name in result or len(result) == _SEVERAL else _hidden(name, file)
        if hidden is not None and (name in passed or file in text or f"'{name}" in text or not _is_installed(hidden)):
            result[name] = os.path.abspath(file)
    return result


def _passed(error: BaseException) -> dict[str, str]:
    """Return module -> file of all frames of the exception, and of a syntax error; the innermost first."""
    return {name: file for name, file in reversed(_frames(error)) if file and "." not in name}


def _frames(error: BaseException) -> list[tuple[str, str]]:
    """Return the module and the file of each frame, the innermost last."""
    frames: list[tuple[str, str]] = []
    place = error.__traceback__
    while place is not None:
        names = place.tb_frame.f_globals
        frames.append((str(names.get("__name__")), str(names.get("__file__") or "")))
        place = place.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((os.path.splitext(os.path.basename(error.filename))[0], error.filename))
    return frames


def _hidden(name: str, file: str) -> str | None:
    """Return the installed or standard library file that the user's file shadows; None if there is none."""
    if name in _OFTEN or _is_installed(file) or _inside(file, os.path.dirname(os.__file__)):
        return None
    from importlib.machinery import PathFinder

    folder = os.path.dirname(os.path.abspath(file))
    if os.path.basename(file).startswith("__init__."):
        folder = os.path.dirname(folder)
    others = [entry for entry in sys.path if os.path.realpath(entry or ".") != os.path.realpath(folder)]
    spec = PathFinder.find_spec(name, others)
    origin = spec.origin if spec is not None and spec.loader is not None else None
    if origin is None or not (_is_installed(origin) or _inside(origin, os.path.dirname(os.__file__))):
        return None
    return origin


def _of_another_python(file: str) -> str:
    """Return the folder of a standard library that has the file; "" if it is a user's own."""
    folder = os.path.dirname(os.path.abspath(file))
    while folder != os.path.dirname(folder):
        if os.path.basename(folder).startswith("python3") and os.path.isfile(os.path.join(folder, "os.py")):
            return folder
        folder = os.path.dirname(folder)
    return ""


def _is_installed(file: str) -> bool:
    return any(part in _INSTALLED for part in file.replace("\\", "/").split("/"))


def _inside(file: str, folder: str) -> bool:
    return os.path.realpath(file).startswith(os.path.realpath(folder) + os.sep)
