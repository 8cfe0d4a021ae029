"""Redact a fleet: aliases replace the names of nodes."""

from collections.abc import Iterator

from msgspec.structs import replace

from gpucheck.commands.fleet.model import Fleet
from gpucheck.commands.fleet.names import fold
from gpucheck.core.cluster.slurm import expand
from gpucheck.core.reports.redaction.aliases import Aliases
from gpucheck.core.reports.redaction.walk import changed, strings

NAMES = ("node", "nodes", "example_node", "told_by")  # fields with names or lists of nodes
# Fields with texts of gpucheck, products and times, which stay.
KEPT = ("verdict", "severity", "scope", "kind", "gpus", "started_at", "what")


def redacted(fleet: Fleet) -> Fleet:
    """Return the fleet with an alias for each node, and for users, addresses and secrets in its texts."""
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
