"""The TensorFlow requirement of the current folder's project, and the smallest change that makes it work on this machine.

Its files are read as text, line by line, and never executed.
"""

import os
import re
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from gpucheck.commands.setup.files import table_entry
from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.compat import versions
from gpucheck.core.compat.tensorflow import RELEASES
from gpucheck.core.host import Host
from gpucheck.core.solver.answer import Choice
from gpucheck.core.solver.machine import Machine, Requirements
from gpucheck.core.system.bounded import NoResponse, with_timeout

FILES = ("requirements.txt", "environment.yml", "environment.yaml", "pyproject.toml", "pixi.toml", "Pipfile")
# Lock files, and the command that changes them.
LOCKS = {"uv.lock": "uv add", "poetry.lock": "poetry add", "pixi.lock": "pixi add --pypi", "Pipfile.lock": "pipenv install"}
FILE_BYTES, LOCK_BYTES, SECONDS = 1 << 20, 16 << 20, 2.0
_NAME = r"tensorflow(?:-(?:cpu|gpu|intel|macos))?"
_SPEC = r"(?:[<>=!~^]=?=?\s*[\w.*+!]+(?:\s*,\s*)?)+"
_AT_START = re.compile(
    rf"\s*-?\s*[\"']?({_NAME})\s*(\[[\w, -]*\])?\s*({_SPEC})?\s*[\"']?\s*(?:[;#\\].*|--hash.*)?", re.IGNORECASE
)
_IN_LIST = re.compile(rf"[\"'](?:pypi:)?({_NAME})\s*(\[[\w, -]*\])?\s*({_SPEC})?\s*(?:;[^\"']*)?[\"']", re.IGNORECASE)
_IN_TABLE = re.compile(rf"\s*[\"']?({_NAME})[\"']?\s*=\s*(?:\{{.*?version\s*=\s*)?[\"']([^\"']*)[\"'](.*)", re.IGNORECASE)
_LOCKED = re.compile(
    r"""^[ \t-]*name[ \t]*[=:][ \t]*"?tensorflow"?[ \t]*\n[ \t]*version[ \t]*[=:][ \t]*"?([\d.]+)"""
    r"""|"tensorflow":[ \t]*\{[^{}]*"version":[ \t]*"==([\d.]+)""",
    re.MULTILINE,
)
_PYTHON = re.compile(r"\s*-?\s*(?:requires-python|python)\s*=\s*[\"']?([^\"'#]+)")


class Found(msgspec.Struct, frozen=True):
    """A requirement of TensorFlow in a file."""

    file: str
    line: int | None  # None: a lock file
    text: str  # "tensorflow==2.15.0"
    reason: str | None  # why it doesn't work on this machine; None: it works
    python: str | None = None  # the newest Python with which it works, on this machine if possible: "3.11"
    change: str | None = None  # the replacement, or the command that updates a lock file


class _Requirement(msgspec.Struct, frozen=True):
    file: str
    line: int | None
    text: str
    name: str  # "tensorflow"; "": conda's own build
    extras: str
    specifier: str


def examine(host: Host, folder: str, machine: Machine, requirements: Requirements) -> tuple[Found, ...]:
    """Read the project's files in a folder, and judge their TensorFlow requirements."""
    if requirements.backend != "tensorflow":
        return ()
    texts = dict(_texts(host, folder))
    python = next((found for text in texts.values() for found in map(_PYTHON.match, text.splitlines()) if found), None)
    machine = _with_pythons(machine, python[1].strip() if python else None)
    locks = [name for name in LOCKS if name in texts]
    found = [_judged(entry, machine, requirements) for name, text in texts.items() for entry in _requirements(name, text)]
    return tuple(entry for entry in found if entry.file not in LOCKS or entry.reason) if locks else tuple(found)


def _texts(host: Host, folder: str) -> Iterator[tuple[str, str]]:
    for name in (*FILES, *LOCKS):
        limit = LOCK_BYTES if name in LOCKS else FILE_BYTES
        try:
            text = with_timeout(SECONDS, host.read, os.path.join(folder, name), limit)
        except NoResponse:
            return
        if text is not None:
            yield name, text


def _with_pythons(machine: Machine, required: str | None) -> Machine:
    """Return the machine with only the Pythons that the project allows, if there is one."""
    specifier = pep440(required) if required else None
    kept = tuple(python for python in machine.pythons or () if specifier and versions.satisfies(python.version, specifier))
    return replace(machine, pythons=kept) if kept else machine


def _requirements(file: str, text: str) -> Iterator[_Requirement]:
    if file in LOCKS:
        locked = _LOCKED.search(text)
        if locked is not None:
            version = locked[1] or locked[2]
            yield _Requirement(file, None, f"tensorflow {version}", "tensorflow", "", f"=={version}")
        return
    for number, line, conda in _lines(file, text):
        for name, extras, specifier in _in_line(file, line):
            yield _Requirement(file, number, line.strip(), "" if conda else name.lower(), extras, specifier)


def _lines(file: str, text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield line number, line, and whether conda, not pip, installs its packages."""
    conda, depth = file in ("environment.yml", "environment.yaml", "pixi.toml"), -1
    for number, line in enumerate(text.splitlines(), 1):
        table = re.match(r"\s*\[(.*)\]\s*$", line)
        indent = len(line) - len(line.lstrip())
        if table is not None and file.endswith(".toml"):
            conda = "pypi" not in table[1] and (file == "pixi.toml" or "pixi" in table[1])
        elif re.fullmatch(r"\s*- pip:\s*", line):
            conda, depth = False, indent
        elif depth >= 0 and line.strip() and indent <= depth:
            conda, depth = True, -1
        yield number, line, conda


def _in_line(file: str, line: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, extras and PEP 440 specifier of each TensorFlow in a line."""
    if file.endswith((".txt", ".yml", ".yaml")):
        match = _AT_START.fullmatch(line)
        if match is not None:
            yield match[1], match[2] or "", pep440(match[3] or "")
        return
    table = _IN_TABLE.match(line)
    if table is not None:
        yield table[1], "[and-cuda]" if "and-cuda" in table[3] else "", pep440(table[2])
        return
    for match in _IN_LIST.finditer(line.partition(" #")[0]):
        yield match[1], match[2] or "", pep440(match[3] or "")


def pep440(text: str) -> str:
    """Return a specifier of pip, conda, pixi or Poetry as pip writes it: '^2.15' -> '>=2.15,<3', '=2.15' -> '==2.15.*'."""
    return ",".join(filter(None, (_clause(clause.strip().replace(" ", "")) for clause in text.split(","))))


def _clause(clause: str) -> str:
    match = re.fullmatch(r"(\^|~=?|=(?!=))?([\d.]+)(\.\*|\*)?", clause)
    if match is None:
        return "" if clause == "*" else clause
    operator, number = match[1], match[2].rstrip(".")
    parts = versions.parse(number)
    if operator == "^":
        return f">={number},<{parts[0] + 1}"
    if operator == "~" and len(parts) > 1:
        return f">={number},<{parts[0]}.{parts[1] + 1}"
    if operator == "~=":
        return clause
    return f"=={number}.*" if match[3] or len(parts) < 3 else f"=={number}"


def _judged(entry: _Requirement, machine: Machine, requirements: Requirements) -> Found:
    """Judge a requirement: pip installs the newest release that it allows."""
    if not entry.name:
        return Found(entry.file, entry.line, entry.text, "conda builds this TensorFlow itself, so gpucheck cannot judge it")
    allowed = [minor for minor in reversed(RELEASES) if _allows(entry.specifier, minor)]
    answer = solve(machine, requirements)
    pip = [choice for choice in answer.choices if choice.source == "pip" and choice.tensorflow]
    working = {versions.minor(str(choice.tensorflow)): choice for choice in pip}
    newest = allowed[0] if allowed else None
    choice = next((working[minor] for minor in allowed if minor in working), pip[0] if pip else None)
    if choice is None:
        return Found(entry.file, entry.line, entry.text, "no TensorFlow works on this machine")
    reason = _reason(entry, newest, working, machine, requirements)
    if reason is None and newest is not None:
        return Found(entry.file, entry.line, entry.text, None, python=versions.minor(working[newest].python.version))
    return Found(entry.file, entry.line, entry.text, reason, change=_change(entry, choice))


def _allows(specifier: str, minor: str) -> bool:
    pinned = re.fullmatch(r"==(\d+\.\d+)\.\d+", specifier)
    if pinned is not None:
        return pinned[1] == minor
    return not specifier or bool(versions.satisfies(RELEASES[minor].latest_patch, specifier))


def _reason(
    entry: _Requirement, newest: str | None, working: dict[str, Choice], machine: Machine, requirements: Requirements
) -> str | None:
    """Return why the release that pip would install does not work here; None if it does."""
    if newest is None:
        return "no known TensorFlow release matches"
    if newest not in working:
        out = solve(machine, replace(requirements, tensorflow=f"=={newest}.*")).excluded
        why = f": {out[0].reasons[0].text}" if out else ""
        return f"TensorFlow {newest} does not work here{why}"
    choice = working[newest]
    if choice.cuda is None:
        return None
    if entry.name != "tensorflow":
        return f"{entry.name} cannot use the GPU"
    complete = entry.line is None or "and-cuda" in entry.extras or not choice.packages[0].startswith("tensorflow[")
    return None if complete else "it comes without CUDA libraries, which TensorFlow needs to use the GPU"


def _change(entry: _Requirement, choice: Choice) -> str:
    """Return the replacement of a requirement, in its file's syntax."""
    if entry.line is None:
        return " ".join([LOCKS[entry.file], *(f'"{package}"' for package in choice.packages)])
    if entry.file.endswith(".txt"):
        return "\n".join(choice.packages)
    if entry.file.endswith((".yml", ".yaml")):
        return "\n".join(f'- "{package}"' for package in choice.packages)
    if _IN_TABLE.match(entry.text):
        return "\n".join(map(table_entry, choice.packages))
    return ", ".join(f'"{package}"' for package in choice.packages)
