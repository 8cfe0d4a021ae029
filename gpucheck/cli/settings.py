"""Settings from ``[tool.gpucheck]`` of the nearest pyproject.toml, and from GPUCHECK_* variables."""

import contextlib
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from gpucheck.core.system.bounded import NoResponse, with_timeout
from gpucheck.core.system.ownership import why_untrusted
from gpucheck.core.system.read import Refused, read

PREFIX = "GPUCHECK_"
EXPECTATIONS = "expectations"  # table in pyproject.toml with the content of an expectations file
# Name in pyproject.toml (the option without its dashes; as a variable GPUCHECK_ALLOW_CPU) -> type.
KEYS = {
    "level": "text",  # "quick", "default" or "full": --quick, neither, --full
    "allow-cpu": "flag",
    "no-smoke": "flag",
    "strict": "flag",
    "timeout": "number",
    "python": "path",
    "strategy": "list",
    "expect": "path",
    "format": "text",
    "exit-style": "text",
    "redact": "flag",
    "color": "text",
    "verbose": "flag",
}
WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
PYPROJECT_BYTES_MAX = 1 << 22
SEARCH_SECONDS = 2.0  # timeout of the search for a file that the user did not specify
_TABLE = rb"""(?m)tool["']?\s*\.\s*["']?gpucheck|^\s*\[?\s*["']?tool["']?\s*[]=]"""  # may contain our settings


class Setting(NamedTuple):
    """A value and its source: "GPUCHECK_TIMEOUT", "/home/user/project/pyproject.toml:12"."""

    value: Any
    source: str


class Settings(NamedTuple):
    """The settings by name.

    ``unknown``: variables with our prefix that are not settings. ``ignored``: files that other users may have written, each
    with the reason: "/tmp/pyproject.toml: it belongs to user 1001".
    """

    values: dict[str, Setting]
    unknown: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


class Document(msgspec.Struct, frozen=True):
    """A pyproject.toml that contains our settings, before it is parsed."""

    path: str
    data: bytes


def collect(env: Mapping[str, str], folder: str) -> Settings:
    """Merge both sources; variables win.

    Args:
        env: the environment.
        folder: where the upward search for pyproject.toml starts.

    Raises:
        gpucheck.core.expectations.toml.Problem: an unknown key, a wrong type, a later format; with the location.
    """
    names = [name for name in env if name.startswith(PREFIX) and env[name] != ""]
    try:
        document, ignored = with_timeout(SEARCH_SECONDS, pyproject, folder)
    except NoResponse as error:
        document, ignored = None, (f"{os.path.join(folder, 'pyproject.toml')}: {error.strerror}",)
    values = {} if document is None else _of_pyproject(document.path, document.data)
    keys_by_variable = {PREFIX + key.upper().replace("-", "_"): key for key in KEYS}
    # Unknown variables are not an error: Kubernetes sets GPUCHECK_PORT and similar ones for a service named gpucheck.
    for name in names:
        if name in keys_by_variable:
            values[keys_by_variable[name]] = Setting(_of_variable(name, env[name], KEYS[keys_by_variable[name]]), name)
            if keys_by_variable[name] == "expect":
                values.pop(EXPECTATIONS, None)
    return Settings(values, tuple(sorted(name for name in names if name not in keys_by_variable)), ignored)


def exit_style(env: Mapping[str, str], folder: str) -> str | None:
    """Return the configured exit style even if other settings are invalid; None: not set, or unreadable."""
    from gpucheck.core.expectations import toml

    if env.get(f"{PREFIX}EXIT_STYLE"):
        return env[f"{PREFIX}EXIT_STYLE"]
    try:
        document, _ = with_timeout(SEARCH_SECONDS, pyproject, folder)
        table: Any = {} if document is None else toml.load(document.data.decode(), document.path)
        for name in ("tool", "gpucheck"):
            table = table[name]
        style = table.get("exit-style", table.get("exit_style"))
    except (NoResponse, ValueError, KeyError, TypeError, AttributeError):
        return None
    return style if isinstance(style, str) else None


def pyproject(folder: str) -> tuple[Document | None, tuple[str, ...]]:
    """Find the nearest pyproject.toml, upwards; None if it has no settings of ours. Also return the ignored files.

    The file is searched for our table, not parsed. A file that other users may have written is ignored.
    """
    ignored: list[str] = []
    while True:
        path = os.path.join(folder, "pyproject.toml")
        with contextlib.suppress(OSError, Refused):
            reason = why_untrusted(path)  # checked before reading: a file that only we can write does not change in between
            data = read(path, PYPROJECT_BYTES_MAX)
            ours = b"gpucheck" in data and re.search(_TABLE, data) is not None
            if reason is None:
                return Document(path, data) if ours else None, tuple(ignored)
            if ours:
                ignored.append(f"{path}: {reason}")
        above = os.path.dirname(folder)
        if above == folder:
            return None, tuple(ignored)
        folder = above


def _of_pyproject(path: str, data: bytes) -> dict[str, Setting]:
    from gpucheck.core.expectations import read, toml

    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise toml.Problem(f"{path}: not UTF-8") from None
    tool = toml.load(text, path).get("tool")
    table = tool.get("gpucheck") if isinstance(tool, dict) else None
    if table is None:
        return {}
    if not isinstance(table, dict):
        raise toml.Problem(f"{path}: tool.gpucheck: expected a table")
    values: dict[str, Setting] = {}
    for name, value in table.items():
        key, at = name.replace("_", "-"), ("tool", "gpucheck", name)
        line = toml.line(text, at)
        source = f"{path}:{line}" if line else path
        if name == EXPECTATIONS:
            values[EXPECTATIONS] = Setting(read.convert(value, text, path, at), source)
        elif key in KEYS:
            values[key] = Setting(_typed(value, KEYS[key], os.path.dirname(path), f"{source}: {name}"), source)
        else:
            from gpucheck.core.model.naming import did_you_mean

            similar = did_you_mean(key, [*KEYS, EXPECTATIONS])
            raise toml.Problem(f"{source}: tool.gpucheck.{name}: unknown key{similar}")
    if "expect" in values and EXPECTATIONS in values:
        raise toml.Problem(f"{values['expect'].source}: expect: conflicts with the table tool.gpucheck.expectations; keep one")
    return values


def _typed(value: Any, kind: str, folder: str, place: str) -> Any:
    from gpucheck.core.expectations.toml import Problem

    if kind == "flag" and isinstance(value, bool):
        return value
    if kind == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if kind == "text" and isinstance(value, str):
        return value
    if kind == "path" and isinstance(value, str):
        beside = os.path.join(folder, os.path.expanduser(value))
        return (
            beside if "/" in value or os.sep in value or os.path.exists(beside) else value
        )  # a program name without a path is searched on PATH
    if kind == "list":
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return items
    expected = {"flag": "true or false", "number": "a number", "list": "a list of strings"}.get(kind, "a string")
    raise Problem(f"{place}: expected {expected}, not {value!r}")


def _of_variable(name: str, text: str, kind: str) -> Any:
    from gpucheck.core.expectations.toml import Problem

    if kind == "flag":
        if text.strip().lower() not in WORDS:
            raise Problem(f"{name}: expected 1 or 0, true or false, yes or no, on or off, not {text!r}")
        return WORDS[text.strip().lower()]
    if kind == "list":
        return text.replace(",", " ").split()
    return text
