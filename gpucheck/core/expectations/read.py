"""Read expectations files, or the same table in pyproject.toml, into ``Expectations``; errors are reported with their line."""

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from gpucheck.core.engine.discovery import modules, strategies
from gpucheck.core.expectations import FORMAT_VERSION, toml
from gpucheck.core.expectations.toml import Path, Problem
from gpucheck.core.model import Expectations, FitExpectations
from gpucheck.core.model.kinds import PRECISIONS
from gpucheck.core.model.naming import did_you_mean
from gpucheck.core.probes.environment import KNOWN

__all__ = ("Contradiction", "Problem", "baseline", "convert", "merge", "parse")
_LISTED = "; `gpucheck rules` lists them"
FIT_IS_COMPARED = (
    'which `gpucheck compare` compares with the summary of a training run (Watch(report="fit.json")), not with a machine'
)
LARGEST_BYTES = 1 << 22  # maximum size of an expectations file
ProblemAt = Callable[[Path, str], Problem]  # from the place in the table, and what is wrong
Part = TypeVar("Part", bound=msgspec.Struct)


class Contradiction(ValueError):
    """Two files have different expectations of a field; the message names the field and both files."""


def parse(text: str, name: str) -> Expectations:
    """Read an expectations file.

    Args:
        text: the file's text.
        name: the file's name in messages.

    Raises:
        Problem: not TOML, a later format, an unknown key, a wrong type, an invalid value, or an empty file: it was probably
            truncated, and every machine would meet it. Mutes and allowed warnings alone are enough.
    """
    expected = convert(toml.load(text, name), text, name)
    if not (_of_machine(expected) or expected.allowed_warnings or expected.mute):
        if expected.fit != FitExpectations():
            raise Problem(f"{name}: only [fit], {FIT_IS_COMPARED}")
        raise Problem(f"{name}: a file without expectations is not a baseline; `gpucheck snapshot` writes one")
    return expected


def baseline(text: str, name: str) -> Expectations:
    """Read an expectations file to compare a machine with; arguments and errors as for ``parse``.

    Raises:
        Problem: also if it has only mutes and allowed warnings, which every machine meets.
    """
    expected = parse(text, name)
    if not _of_machine(expected):
        raise Problem(f"{name}: only mutes or allowed warnings: a file without expectations of a machine is not a baseline")
    return expected


def _of_machine(expected: Expectations) -> bool:
    """Whether a machine can fail to meet these expectations."""
    gpu, versions, training = (msgspec.structs.asdict(part) for part in (expected.gpu, expected.versions, expected.training))
    speeds = training.pop("min_samples_per_second").values()
    return (
        bool(expected.environment)
        or any(value not in (None, ()) for part in (gpu, versions, training) for value in part.values())
        or any(speeds)
    )


def convert(table: Any, text: str, name: str, at: Path = ()) -> Expectations:
    """Convert a table at a path of a document into expectations; arguments and errors as for ``parse``."""
    problem_at = functools.partial(_problem, text, name, at)
    if not isinstance(table, dict):
        raise problem_at((), f"expected a table, not {_kind(table)}")
    table = dict(table)
    _check_version(table.pop("schema_version", FORMAT_VERSION), problem_at)
    _check_keys(table, Expectations, problem_at)
    table = {key: _spelled(key, entry, problem_at) for key, entry in table.items()}
    try:
        expected = msgspec.convert(table, Expectations)
    except msgspec.ValidationError as error:
        words, _, place = str(error).partition(" - at `$")
        raise problem_at(_path(place.rstrip("`")), _plain(words)) from None
    for path, problem in _invalid(expected):
        raise problem_at(path, problem)
    return expected


def _problem(text: str, name: str, at: Path, path: Path, words: str) -> Problem:
    """Return an error at a path below ``at``, with its line and key; other arguments as for ``convert``."""
    line = toml.line(text, (*at, *path))
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return Problem(f"{name}{f':{line}' if line else ''}: {f'{dotted}: ' if dotted else ''}{words}")


def _check_version(version: Any, problem_at: ProblemAt) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise problem_at(("schema_version",), f"expected a whole number of 1 or more, not {version!r}")
    if version > FORMAT_VERSION:
        words = f"{version} is newer than {FORMAT_VERSION}, the latest that this gpucheck supports: upgrade gpucheck"
        raise problem_at(("schema_version",), words)


def _check_keys(table: dict[str, Any], kind: type[msgspec.Struct], problem_at: ProblemAt, at: Path = ()) -> None:
    """Raise for an unknown key of any table; a struct's nested tables are structs of the same names."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    for name, entry in table.items():
        if name not in fields:
            keys = list(fields) if at else [*fields, "schema_version"]
            raise problem_at((*at, name), f"unknown key{did_you_mean(name, keys)}")
        inner = fields[name]
        if isinstance(entry, dict) and isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            _check_keys(entry, inner, problem_at, (*at, name))
        elif name == "mute" and isinstance(entry, list):
            (mute, *_) = inner.__args__
            for place, table in enumerate(entry):
                if isinstance(table, dict):
                    _check_keys(table, mute, problem_at, (*at, name, place))


def _spelled(name: str, entry: Any, problem_at: ProblemAt) -> Any:
    """Expand short forms: one speed for a strategy means float32, one name means a list of one."""
    if name == "training" and isinstance(entry, dict) and isinstance(speeds := entry.get("min_samples_per_second"), dict):
        full = {strategy: speed if isinstance(speed, dict) else {"float32": speed} for strategy, speed in speeds.items()}
        for strategy, by_precision in full.items():
            for precision, speed in by_precision.items():
                if isinstance(speed, bool) or not isinstance(speed, (int, float)):
                    path = (name, "min_samples_per_second", strategy, precision)
                    raise problem_at(path, f"expected samples per second, not {_kind(speed)}")
        return {**entry, "min_samples_per_second": full}
    if name == "gpu" and isinstance(entry, dict) and isinstance(entry.get("names"), str):
        return {**entry, "names": [entry["names"]]}
    return entry


def _invalid_environment(environment: dict[str, str | bool]) -> Iterable[tuple[Path, str]]:
    for name, expected in environment.items():
        if name not in KNOWN:
            yield ("environment", name), f"gpucheck does not read this variable{did_you_mean(name, KNOWN)}"
        elif expected is True:
            yield ("environment", name), "expected its value as a string, or false for a variable that is not set"


def _invalid_limits(fit: FitExpectations) -> Iterable[tuple[Path, str]]:
    for name, limit in msgspec.structs.asdict(fit).items():
        if isinstance(limit, float) and not 0 <= limit < 1e15:
            yield ("fit", name), "expected a number of 0 or more"


def _invalid(expected: Expectations) -> Iterable[tuple[Path, str]]:
    gpu, training = expected.gpu, expected.training
    if gpu.count is not None and gpu.count < 0:
        yield ("gpu", "count"), "expected 0 or more"
    if gpu.memory_gib is not None and not 0 < gpu.memory_gib < 1e6:
        yield ("gpu", "memory_gib"), "expected a number above 0"
    if gpu.compute_capability is not None and not re.fullmatch(r"\d+\.\d", gpu.compute_capability):
        yield ("gpu", "compute_capability"), f'expected a string such as "9.0", not {gpu.compute_capability!r}'
    for field in msgspec.structs.fields(expected.versions):
        specifier = getattr(expected.versions, field.name)
        if specifier is not None and not _is_specifier(specifier):
            words = f'{specifier!r} is not a version specifier (PEP 440) such as ">=2.21,<2.22" or "==3.15.*"'
            yield ("versions", field.name), words
    if training.max_first_step_seconds is not None and not 0 < training.max_first_step_seconds < 1e6:
        yield ("training", "max_first_step_seconds"), "expected a number of seconds above 0"
    yield from _invalid_limits(expected.fit)
    yield from _invalid_environment(expected.environment)
    yield from _invalid_names(expected)
    for place, mute in enumerate(expected.mute):
        if not mute.reason.strip():
            yield ("mute", place, "reason"), "a muted diagnosis needs a reason"


def _invalid_names(expected: Expectations) -> Iterable[tuple[Path, str]]:
    known_strategies = strategies()
    for name in expected.training.strategies:
        if name not in known_strategies:
            yield ("training", "strategies"), f"no strategy {name!r}{did_you_mean(name, known_strategies)}"
    for strategy, speeds in expected.training.min_samples_per_second.items():
        path: Path = ("training", "min_samples_per_second", strategy)
        if strategy not in known_strategies:
            yield path, f"no strategy of that name{did_you_mean(strategy, known_strategies)}"
        yield from _invalid_speeds(path, speeds)
    known_codes = [name.rpartition(".")[2].replace("_", "-") for row in modules("gpucheck.core.rules") for name in modules(row)]
    codes: list[tuple[Path, str]] = [(("allowed_warnings",), code) for code in expected.allowed_warnings]
    codes += [(("mute", place, "code"), mute.code) for place, mute in enumerate(expected.mute)]
    for path, code in codes:
        if code not in known_codes:
            yield path, f"no diagnosis has the code {code!r}{did_you_mean(code, known_codes, otherwise=_LISTED)}"


def _invalid_speeds(path: Path, speeds: dict[str, float]) -> Iterable[tuple[Path, str]]:
    for precision, speed in speeds.items():
        if precision not in PRECISIONS:
            yield (*path, precision), f"no precision of that name; expected one of {', '.join(PRECISIONS)}"
        if not 0 < speed < 1e15:
            yield (*path, precision), "expected samples per second above 0"


def _is_specifier(text: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return bool(text.strip()) and bool(list(SpecifierSet(text)))
    except InvalidSpecifier:
        return False


def _path(dotted: str) -> Path:
    """Convert msgspec's ".gpu.count", ".mute[0].until" or ".names[...]" to a path."""
    parts = re.findall(r"\[(\d+)\]|\.([^.\[]+)", dotted)
    return tuple(int(number) if number else name for number, name in parts)


_KINDS = {"str": "a string", "int": "a whole number", "float": "a number", "array": "a list", "object": "a table"}
_KINDS |= {"bool": "true or false", "date": "a date such as 2026-12-31", "null": "nothing"}


def _plain(words: str) -> str:
    """Translate msgspec's "Expected `int | null`, got `str`" into TOML's terms."""
    match = re.fullmatch(r"Expected `([^`]+)`, got `([^`]+)`", words)
    if not match:
        missing = re.fullmatch(r"Object missing required field `(\w+)`", words)
        return f"{missing[1]} is missing" if missing else words[:1].lower() + words[1:]
    expected = [_KINDS.get(kind, kind) for kind in match[1].split(" | ") if kind != "null"]
    return f"expected {' or '.join(expected)}, not {_KINDS.get(match[2], match[2])}"


def _kind(value: Any) -> str:
    name = type(value).__name__
    return _KINDS.get({"list": "array", "dict": "object"}.get(name, name), name)


def merge(first: Expectations, second: Expectations) -> Expectations:
    """Combine two expectations, including everything that either mutes or allows.

    Raises:
        Contradiction: they expect different values of one field.
    """
    return _merged(first, second, "")


def _merged(first: Part, second: Part, place: str) -> Part:
    fields = {}
    for field in msgspec.structs.fields(first):
        name, one, other = field.encode_name, getattr(first, field.name), getattr(second, field.name)
        if isinstance(one, msgspec.Struct):
            fields[field.name] = _merged(one, other, f"{place}{name}.")
        elif name in ("mute", "allowed_warnings", "strategies"):
            fields[field.name] = (*one, *(item for item in other if item not in one))
        elif isinstance(one, dict):
            fields[field.name] = _merged_tables(one, other, f"{place}{name}.")
        elif one in (None, ()) or other in (None, ()) or one == other:
            fields[field.name] = other if one in (None, ()) else one
        else:
            raise Contradiction(f"{place}{name} is {_listed(one)} in one and {_listed(other)} in the other")
    return msgspec.structs.replace(first, **fields)


def _merged_tables(first: dict[str, Any], second: dict[str, Any], place: str) -> dict[str, Any]:
    merged = {**second, **first}
    for name in first.keys() & second.keys():
        one, other = first[name], second[name]
        if isinstance(one, dict):
            merged[name] = _merged_tables(one, other, f"{place}{name}.")
        elif one != other:
            raise Contradiction(f"{place}{name} is {one} in one and {other} in the other")
    return merged


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
