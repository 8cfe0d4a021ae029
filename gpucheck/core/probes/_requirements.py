"""The requirements of installed packages, from their metadata, and which of them are not met.

Format: PEP 508 (names, specifiers, markers), as in wheels. Simple markers are evaluated here: importing ``packaging`` takes a
tenth of a quick run, so it is only used for others.
"""

import re
from collections.abc import Iterator

import msgspec

from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.compat import versions
from gpucheck.core.host import Host
from gpucheck.core.model import Fact
from gpucheck.core.probes._distributions import Installed, normalised

METADATA_BYTES = 1 << 16
_REQUIREMENT = re.compile(r"^Requires-Dist: *([A-Za-z0-9][\w.-]*)(?:\[[^]\n]*\])? *\(?([^;()\n]*)\)? *(?:;(.*))?$", re.MULTILINE)
_PLAIN_MARKER = r"""\s*(\w+)\s*(==|!=|<=|>=|<|>)\s*["']([^"']*)["']\s*"""


class Requirement(Fact, frozen=True, kw_only=True):
    """A package's requirement of another, and the installed version."""

    name: str
    specifier: str  # "==12.5.3.2", "<10.0,>=9.3.0.75"
    installed: str | None = None
    satisfied: bool | None = None  # None: not installed, or not comparable
    requirer: str = "tensorflow"  # or "keras"


class Entry(msgspec.Struct, frozen=True):
    """A line of metadata."""

    name: str
    specifier: str
    marker: str  # "": always required


def headers(host: Host, package: Installed) -> str:
    """The metadata without the description, which follows after the first blank line."""
    text = host.read(f"{package.folder}/{package.metadata}/METADATA", limit_bytes=METADATA_BYTES) or ""
    return text.replace("\r\n", "\n").partition("\n\n")[0]


def entries(metadata: str) -> Iterator[Entry]:
    """The requirements, including those of extras."""
    for match in _REQUIREMENT.finditer(metadata):
        yield Entry(normalised(match[1]), match[2].replace(" ", ""), (match[3] or "").strip())


def against(entry: Entry, distributions: dict[str, Installed], requirer: str = "tensorflow") -> Requirement:
    """Compare a requirement with the installed version."""
    installed = distributions.get(entry.name)
    return Requirement(
        name=entry.name,
        specifier=entry.specifier,
        installed=installed.version if installed else None,
        satisfied=versions.satisfies(installed.version, entry.specifier) if installed and entry.specifier else None,
        requirer=requirer,
    )


def unmet(
    host: Host, interpreter: Interpreter, distributions: dict[str, Installed], metadata: dict[str, list[Entry]]
) -> Iterator[Requirement]:
    """The requirements in these metadata, without extras, that are missing or have another version.

    Args:
        host: the machine.
        interpreter: the examined one, to which markers apply.
        distributions: those installed for it.
        metadata: requirer -> its requirements.
    """
    for requirer, entry in ((requirer, entry) for requirer, required in metadata.items() for entry in required):
        if "extra" in entry.marker:
            continue
        requirement = against(entry, distributions, requirer)
        wrong = requirement.installed is None or requirement.satisfied is False
        if wrong and (not entry.marker or _holds(entry.marker, interpreter, host)):
            yield requirement


def _holds(marker: str, interpreter: Interpreter, host: Host) -> bool:
    """Whether a marker applies to the examined interpreter; an invalid one does not."""
    values = _surroundings(interpreter, host)
    parts = [re.fullmatch(_PLAIN_MARKER, part) for part in marker.split(" and ")]
    if all(part is not None and part[1] in values for part in parts):
        return all(_compare(values[part[1]], part[2], part[3]) for part in parts if part is not None)
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    try:
        return bool(Marker(marker).evaluate(dict(values)))
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return False


def _surroundings(interpreter: Interpreter, host: Host) -> dict[str, str]:
    system, _, machine = host.uname()
    return {
        "python_version": versions.minor(interpreter.version),
        "python_full_version": interpreter.version,
        "sys_platform": interpreter.platform or host.platform,
        "platform_system": system,
        "platform_machine": machine,
        "os_name": "nt" if host.platform == "win32" else "posix",
        "implementation_name": interpreter.implementation,
        "platform_python_implementation": {"cpython": "CPython", "pypy": "PyPy"}.get(interpreter.implementation, ""),
        "extra": "",
    }


def _compare(value: str, operator: str, bound: str) -> bool:
    answer = versions.satisfies(value, operator + bound) if value[:1].isdigit() and bound[:1].isdigit() else None
    if answer is not None:
        return answer
    return (value == bound) == (operator == "==")
