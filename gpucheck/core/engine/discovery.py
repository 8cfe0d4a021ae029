"""Discovery of the plugins in their folders, without a list of them."""

import os
from collections.abc import Sequence
from importlib import import_module

from gpucheck.core.model.plugin import Combiner, Probe, Row, Rule


def load_probes() -> tuple[Probe, ...]:
    """Return all probes, sorted by name."""
    return tuple(import_module(name).read.plugin for name in modules("gpucheck.core.probes"))


def load_combiners() -> tuple[Combiner, ...]:
    """Return all combiners, each after those whose facts it needs."""
    return in_order([import_module(name).combine.plugin for name in modules("gpucheck.core.combiners")])


def in_order(combiners: Sequence[Combiner]) -> tuple[Combiner, ...]:
    """Sort combiners so that each follows those whose facts it needs.

    Raises:
        ValueError: a dependency cycle.
    """
    waiting, ordered = list(combiners), list[Combiner]()
    while waiting:
        pending = {combiner.fact for combiner in waiting}
        ready = [combiner for combiner in waiting if not pending & {need.fact for need in combiner.needs}]
        if not ready:
            raise ValueError(f"combiners that need each other: {', '.join(combiner.name for combiner in waiting)}")
        ordered += ready
        waiting = [combiner for combiner in waiting if combiner not in ready]
    return tuple(ordered)


def load_rules() -> tuple[Rule, ...]:
    """Return all rules, sorted by row and code."""
    return tuple(import_module(name).check.plugin for row in modules("gpucheck.core.rules") for name in modules(row))


def load_rows() -> dict[str, Row]:
    """Return the rows of the troubleshooting table by name (kebab case), in the table's order."""
    rows = {name.rpartition(".")[2].replace("_", "-"): import_module(name).ROW for name in modules("gpucheck.core.rules")}
    return dict(sorted(rows.items(), key=lambda item: item[1].position))


def strategies() -> list[str]:
    """Return the names of the training strategies, without importing them."""
    return [name.rpartition(".")[2] for name in modules("gpucheck.core.training.strategies")]


def modules(package: str) -> tuple[str, ...]:
    """Return the full names of a package's public modules and packages, sorted, without importing them."""
    (folder, *_) = import_module(package).__path__
    names = (
        entry.name.removesuffix(".py")
        for entry in os.scandir(folder)
        if entry.name.endswith(".py") or (entry.is_dir() and not entry.name.startswith("_"))
    )
    return tuple(f"{package}.{name}" for name in sorted(names) if not name.startswith("_"))
