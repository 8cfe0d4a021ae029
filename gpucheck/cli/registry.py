"""The commands that the folders of ``gpucheck/commands`` declare. Only the one that runs is imported."""

import importlib
import importlib.util
import pkgutil
from types import ModuleType
from typing import NamedTuple


class Entry(NamedTuple):
    """One command."""

    module: str  # full name; the command is its attribute of the same name
    purpose: str  # one line for --help


def folders() -> list[ModuleType]:
    """Return the package of each folder, sorted by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(importlib.import_module("gpucheck.commands").__path__))
    return [importlib.import_module(f"gpucheck.commands.{name}") for name in names]


def entries() -> dict[str, Entry]:
    """Return all commands by name."""
    return {name: Entry(*entry) for folder in folders() for name, entry in _entries(folder).items()}


def find(name: str) -> Entry | None:
    """Return the command of that name; None if it does not exist."""
    full = f"gpucheck.commands.{name}"
    if name.isidentifier() and importlib.util.find_spec(full) is not None:  # most folders have their command's name
        own = _entries(importlib.import_module(full))
        if name in own:
            return Entry(*own[name])
    return entries().get(name)


def _entries(folder: ModuleType) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = getattr(folder, "COMMANDS", {})
    return found
