"""Expected environment variables."""

from collections.abc import Iterator

from gpucheck.core.expectations.items import Item, Machine
from gpucheck.core.model import Level, saw
from gpucheck.core.probes.environment import Environment

UNSET = "not set"


def environment(machine: Machine) -> Iterator[Item]:
    """Variables that must have a value, or be unset. A node has many environments, so `gpucheck node` checks none."""
    fact = machine.get(Environment)
    for name, wanted in machine.expected.environment.items() if machine.request.level is not Level.NODE else ():
        expected = f'"{wanted}"' if isinstance(wanted, str) else UNSET
        if fact is None:
            yield Item(name, expected, machine.why_not(Environment), None)
            continue
        value = fact.variables.get(name)
        seen = UNSET if value is None else f'"{value}"'
        yield Item(name, expected, seen, seen == expected, saw(fact, "variables"))
