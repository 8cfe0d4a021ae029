"""Compress names of nodes to a host list, as in Slurm, pdsh and ClusterShell: "gpu[003-014],login1"."""

import itertools
import re
from collections.abc import Iterable, Iterator


def fold(names: Iterable[str]) -> str:
    """Return a host list without duplicates; consecutive numbers become a range, and leading zeros are kept."""
    numbered: dict[tuple[str, str, int], list[int]] = {}
    plain: list[str] = []
    for name in set(names):
        match = re.fullmatch(r"(.*?)(\d{1,18})(\D*)", name, re.ASCII)
        if match is None or "[" in name or "," in name:
            plain.append(name)
            continue
        prefix, digits, suffix = match.groups()
        padded = len(digits) if digits.startswith("0") and len(digits) > 1 else 0
        numbered.setdefault((prefix, suffix, padded), []).append(int(digits))
    for prefix, suffix, width in sorted(key for key in numbered if key[2]):
        # 09 and 10: 10 has no leading zero, but the same width.
        loose = numbered.get((prefix, suffix, 0), [])
        numbered[prefix, suffix, width] += [number for number in loose if len(str(number)) == width]
        numbered[prefix, suffix, 0] = [number for number in loose if len(str(number)) != width]
    parts = [_part(*key, sorted(set(numbers))) for key, numbers in numbered.items() if numbers]
    return ",".join(sorted([*parts, *plain], key=_natural))


def _part(prefix: str, suffix: str, width: int, numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"{prefix}{numbers[0]:0{width}}{suffix}"
    ranges = ",".join(_ranges(numbers, width))
    return f"{prefix}[{ranges}]{suffix}"


def _ranges(numbers: list[int], width: int) -> Iterator[str]:
    """Yield ranges: the difference of number and position is constant for consecutive numbers."""
    for _, group in itertools.groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        first, *rest = [number for _, number in group]
        yield f"{first:0{width}}-{rest[-1]:0{width}}" if rest else f"{first:0{width}}"


def _natural(name: str) -> list[tuple[int, str]]:
    # int() rejects more than 4,300 digits, and "²", for which isdigit() is True.
    return [(int(part[:18]) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)[:8]]
