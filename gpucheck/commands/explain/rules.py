"""Every rule with a page: those for machines, and those of commands with their own rules, such as ``lint``."""

import importlib
from typing import Any

from msgspec.structs import replace

from gpucheck.cli import registry
from gpucheck.core.engine import discovery, manual
from gpucheck.core.model.plugin import Row, Rule


def load_rules() -> tuple[Rule, ...]:
    """Return the rules for machines and those for training scripts, with their pages."""
    rules = (*discovery.load_rules(), *(rule for pages in _other_pages() for rule in pages.load_rules()))
    return tuple(rule if rule.doc else replace(rule, doc=manual.docstring(rule.check.__module__)) for rule in rules)


def load_rows() -> dict[str, Row]:
    """Return the rows of the troubleshooting table that the rules belong to."""
    return {**discovery.load_rows(), **{name: row for pages in _other_pages() for name, row in pages.ROWS.items()}}


def _other_pages() -> list[Any]:
    """Return the modules of commands with their own rules and pages."""
    return [importlib.import_module(folder.PAGES) for folder in registry.folders() if hasattr(folder, "PAGES")]
