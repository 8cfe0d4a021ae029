"""Names of nodes: as a host list, as in Slurm, pdsh and ClusterShell ("gpu[003-014],login1"), and replaced by aliases."""

import itertools
import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpucheck.commands.fleet.model import Fleet
from gpucheck.core.cluster.slurm import expand

NAMES = ("node", "nodes", "example_node", "reporter")  # fields with names or lists of nodes
# Fields with texts of gpucheck, products and times, which are not changed.
KEPT = ("verdict", "severity", "scope", "kind", "gpus", "started_at", "what")


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
    return ",".join(sorted([*parts, *plain], key=natural))


def _part(prefix: str, suffix: str, width: int, numbers: list[int]) -> str:
    ranges = ",".join(_ranges(numbers, width))
    return f"{prefix}{ranges}{suffix}" if len(numbers) == 1 else f"{prefix}[{ranges}]{suffix}"


def _ranges(numbers: list[int], width: int) -> Iterator[str]:
    """Yield ranges: the difference of number and position is constant for consecutive numbers."""
    for _, group in itertools.groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        first, *rest = [number for _, number in group]
        yield f"{first:0{width}}-{rest[-1]:0{width}}" if rest else f"{first:0{width}}"


def natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in a name by their value: gpu9-3 before gpu10-2."""
    # int() rejects more than 4,300 digits, and "²", for which isdigit() is True.
    return [(int(part[:18]) if part.isdecimal() else -1, part) for part in re.split(r"(\d+)", name)[:8]]


def redacted(fleet: Fleet) -> Fleet:
    """Return the fleet with an alias for each node, and for users, addresses and secrets in its texts."""
    from gpucheck.core.reports.redaction.aliases import Aliases  # only --redact needs it
    from gpucheck.core.reports.redaction.walk import changed, strings

    named = [node.name for node in fleet.nodes]
    listed = [name for key, text in strings(fleet) if key in NAMES for name in _expanded(text)]
    aliases = Aliases(lambda: True)
    aliases.learn_nodes(dict.fromkeys([*named, *listed]), fleet)

    def change(key: str, text: str) -> str:
        if key in KEPT:
            return text
        if key in NAMES:
            return fold(aliases.alias("host", name.lower()) for name in _expanded(text))
        return aliases.text(key, text)

    nodes = tuple(replace(changed(node, change), name=change("node", node.name)) for node in fleet.nodes)
    rest: Fleet = changed(replace(fleet, nodes=()), change)
    return replace(rest, nodes=nodes, tool=fleet.tool, schema_version=fleet.schema_version, redacted=True)


def _expanded(nodes: str) -> Iterator[str]:
    try:
        yield from list(expand(nodes))
    except ValueError:  # a name with a bracket, or too many nodes
        yield nodes
