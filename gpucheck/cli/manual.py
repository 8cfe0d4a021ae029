"""The commands that only read the project itself: the manual, the table, the schema, the completion scripts."""

from typing import Any

import click

from gpucheck.cli.screen import look, show


@click.command()
@click.argument("code", metavar="CODE", shell_complete=lambda ctx, param, incomplete: _codes(incomplete))
@click.option("--format", "style", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def explain(code: str, style: str, color: str) -> None:
    """Print the manual page of a diagnosis.

    \b
    Example:
      gpucheck explain driver-library-mismatch
    """
    from gpucheck import manual, plugin
    from gpucheck.reports import page

    rules = {rule.code: rule for rule in plugin.load_rules()}
    if code not in rules:
        raise click.UsageError(f"no diagnosis has the code {code!r}{_similar(code, rules)}; `gpucheck rules` lists them")
    rule = rules[code]
    parsed = manual.page(code, rule.doc)
    row = plugin.load_rows()[rule.row]
    if style == "json":
        show(page.render_json(parsed, rule, row))
    else:
        show(page.render(parsed, rule, row, **look(color)))


@click.command()
@click.option("--format", "style", type=click.Choice(["terminal", "json", "markdown"]), default="terminal", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def rules(style: str, color: str) -> None:
    """List the troubleshooting table: row, code, severity, one line."""
    from gpucheck import plugin
    from gpucheck.reports import table

    show(table.render(plugin.load_rules(), plugin.load_rows(), style, **look(color)))


@click.command()
def schema() -> None:
    """Print the JSON Schema of the report."""
    import json

    from gpucheck import schema as published

    show(json.dumps(published.schema(), indent=2) + "\n")


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the shell's completion script.

    \b
    Example:
      gpucheck completion bash > ~/.local/share/bash-completion/completions/gpucheck
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell!r}")
    show(kind(click.get_current_context().find_root().command, {}, "gpucheck", "_GPUCHECK_COMPLETE").source() + "\n")


def _codes(incomplete: str) -> list[str]:
    from gpucheck.plugin import load_rules

    return [rule.code for rule in load_rules() if rule.code.startswith(incomplete)]


def _similar(code: str, known: Any) -> str:
    import difflib

    close = difflib.get_close_matches(code, list(known), 3)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
