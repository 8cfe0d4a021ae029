"""Version numbers as drivers, CUDA, cuDNN and Python packages write them.

Sources: NVIDIA driver numbering ('580.159.04'; NVIDIA CUDA Toolkit Release Notes, CUDA Driver table); PEP 440 for
Python packages.
"""

import functools
import re

_DIGITS_OF_CUDNN_8 = 4


@functools.lru_cache(maxsize=512)  # one solve compares the same few versions some ten thousand times
def parse(text: str) -> tuple[int, ...]:
    """Parse the leading dotted number: '580.159.04' -> (580, 159, 4), '2.21.0rc1' -> (2, 21, 0); () without one."""
    number = re.match(r"\s*[0-9]+(?:\.[0-9]+)*", text)
    return tuple(map(int, number[0].split("."))) if number else ()


def at_least(have: str, need: str) -> bool:
    """Whether `have` is `need` or later; missing parts count as zero, so '12.5' is at least '12.5.0'.

    False for an unreadable `have`; check with parse() first if that matters.
    """
    ours, theirs = parse(have), parse(need)
    length = max(len(ours), len(theirs))
    return bool(ours) and ours + (0,) * (length - len(ours)) >= theirs + (0,) * (length - len(theirs))


def minor(version: str) -> str:
    """Return major and minor: '2.21.0' -> '2.21', '12' -> '12'; '' for text without a number."""
    return ".".join(map(str, parse(version)[:2]))


def of_cudnn(number: str) -> str:
    """Return major and minor of cuDNN's version as one number: '90300' -> '9.3', '8907' -> '8.9'."""
    thousands = 10_000 if len(number) > _DIGITS_OF_CUDNN_8 else 1_000
    return f"{int(number) // thousands}.{int(number) % thousands // 100}"


def of_cuda(number: int) -> str:
    """Return CUDA's version, which its libraries give as one number: 13000 -> '13.0'."""
    return f"{number // 1000}.{number % 1000 // 10}"


def same_minor(a: str, b: str) -> bool:
    """Whether both have the same major and minor number."""
    ours, theirs = parse(a)[:2], parse(b)[:2]
    return len(ours) == 2 and ours == theirs


@functools.lru_cache(maxsize=512)
def satisfies(version: str, specifier: str) -> bool | None:
    """Whether a package version, pre-releases included, meets a PEP 440 specifier; None if either is unreadable.

    Plain numbers are compared here; ``packaging``, whose import takes a tenth of a quick run, is used for the rest.
    """
    clauses = [_plain(clause.strip()) for clause in specifier.split(",")]
    if version.replace(".", "").isdigit() and None not in clauses:
        return all(_compare(version, *clause) for clause in clauses if clause is not None)
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        return SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return None


def _plain(clause: str) -> tuple[str, str] | None:
    """Return operator and bound of a clause such as '>=3.10'; None if it has wildcards, letters or other operators."""
    bound = clause.lstrip("=!<>~")
    operator, bound = clause[: len(clause) - len(bound)], bound.strip()
    if operator == "<":
        bound = bound.removesuffix("dev")  # "<5.0.0dev" in old bounds of protobuf: the same for released versions
    return (operator, bound) if operator in _OPERATORS and bound.replace(".", "").isdigit() else None


_OPERATORS = ("==", "!=", ">=", "<=", ">", "<", "~=")


def _compare(version: str, operator: str, bound: str) -> bool:
    above, below = at_least(version, bound), at_least(bound, version)
    return {
        "==": above and below,
        "!=": not (above and below),
        ">=": above,
        "<=": below,
        ">": not below,
        "<": not above,
        "~=": above and parse(version)[: bound.count(".")] == parse(bound)[:-1],
    }[operator]
