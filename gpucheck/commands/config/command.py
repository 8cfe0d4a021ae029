"""The command ``config``: print the settings, and the source of each value."""

import os
from typing import Any

import click

from gpucheck.cli.parameters import Command
from gpucheck.cli.screen import show
from gpucheck.cli.settings import Setting, Settings


@click.command(cls=Command)
@click.option("--format", "style", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@click.pass_context
def config(context: click.Context, style: str) -> None:
    """Show the settings that a check in this folder uses, and where each comes from.

    Settings come from [tool.gpucheck] in the nearest pyproject.toml (in this folder or a parent), and from GPUCHECK_* variables.
    The command line overrides the variables, and these override pyproject.toml. A pyproject.toml that another user may have
    written is ignored, with a message on standard error.

    \b
    Example of a pyproject.toml:
      [tool.gpucheck]
      allow-cpu = true          # GPUCHECK_ALLOW_CPU=1, --allow-cpu
      timeout = 60              # GPUCHECK_TIMEOUT=60, --timeout 60
      level = "quick"           # GPUCHECK_LEVEL=quick, --quick
      expect = "expected.toml"  # or a table [tool.gpucheck.expectations]
    """
    from gpucheck.cli.group import defaults
    from gpucheck.cli.parameters import here
    from gpucheck.cli.settings import EXPECTATIONS, KEYS, collect

    context.invoked_subcommand = "check"
    parent = context.parent or context
    parent.invoked_subcommand = "check"
    defaults(parent)  # reports the same errors as a check
    settings, built_in = collect(os.environ, here()), _built_in(parent)
    names = [*KEYS, *([EXPECTATIONS] if EXPECTATIONS in settings.values else [])]
    rows = {name: settings.values.get(name) or Setting(built_in.get(name), "default") for name in names}
    show(_json(rows, settings) if style == "json" else _lines(rows, settings.unknown))


def _built_in(group: click.Context) -> dict[str, Any]:
    """Return the defaults of `check` without any settings."""
    from gpucheck.cli.group import options_of

    built_in: dict[str, Any] = {"level": "default"}
    for name, option in options_of(group, "check").items():
        plain = option.default if isinstance(option.default, (str, int, float, bool)) else None
        if plain is None and getattr(option, "is_flag", False) and not option.secondary_opts:
            plain = False
        built_in.setdefault(name.removeprefix("--"), [] if option.multiple else plain)
    return built_in


def _lines(rows: dict[str, Setting], unknown: tuple[str, ...]) -> str:
    from gpucheck.core.expectations import toml

    texts = {name: "-" if value is None else toml.value(_plain(value)) for name, (value, _) in rows.items()}
    shown = {name: words if len(words) <= 40 else f"{words[:39]}…" for name, words in texts.items()}
    width = max(map(len, shown.values()))
    lines = [f"{name:12}  {words:{width}}  {rows[name].source}" for name, words in shown.items()]
    lines += [f"{name:12}  not a setting of gpucheck" for name in unknown]
    return "\n".join(lines) + "\n"


def _json(rows: dict[str, Setting], settings: Settings) -> str:
    import json

    document = {
        "settings": {name: {"value": _plain(value), "source": source} for name, (value, source) in rows.items()},
        "unknown_variables": list(settings.unknown),
        "ignored_files": list(settings.ignored),
    }
    return json.dumps(document, indent=2) + "\n"


def _plain(value: Any) -> Any:
    import msgspec

    return _without_empty(msgspec.to_builtins(value))


def _without_empty(value: Any) -> Any:
    """Drop None and empty lists and tables."""
    if isinstance(value, dict):
        return {name: kept for name, entry in value.items() if (kept := _without_empty(entry)) not in (None, [], {})}
    return [_without_empty(entry) for entry in value] if isinstance(value, (list, tuple)) else value
