"""The command ``recipe``: print the scripts and manifests for schedulers, monitoring and CI that are installed with gpucheck."""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

import click

from gpucheck.cli.parameters import Command
from gpucheck.cli.screen import show

if TYPE_CHECKING:  # at run time its module depends on the version of Python
    from importlib.abc import Traversable

EXAMPLES = """\b
Examples:
  gpucheck recipe
  gpucheck recipe slurm/prolog.sh > /etc/slurm/prolog.sh
  gpucheck recipe prometheus/alerts.yaml
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("name", required=False, shell_complete=lambda ctx, param, incomplete: completions(incomplete))
def recipe(name: str | None) -> None:
    """Print a recipe: Slurm, Kubernetes, Prometheus and Grafana, systemd, containers, CI, pre-commit. Without NAME, list them.

    They are meant to be copied and adapted; their comments say what.
    """
    recipes = dict(_recipes())
    if name is None:
        width = max(map(len, recipes))
        show("".join(f"{each:{width}}  {_title(text)}\n" for each, text in recipes.items()))
        return
    matching = [each for each in recipes if each == name or each.rpartition("/")[2] == name or each.startswith(f"{name}/")]
    if len(matching) != 1:
        from gpucheck.core.engine.suggestion import did_you_mean

        hint = (
            f": it holds {', '.join(matching)}"
            if matching
            else did_you_mean(name, recipes, otherwise="; `gpucheck recipe` lists them")
        )
        raise click.UsageError(f"no recipe {name!r}{hint}")
    show(recipes[matching[0]])


def completions(incomplete: str) -> list[str]:
    """Return the names that start with the incomplete word."""
    return [name for name, _ in _recipes() if name.startswith(incomplete)]


def _recipes() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each recipe; works from a zip file too."""
    yield from _below(files("gpucheck") / "recipes", "")


def _below(folder: "Traversable", prefix: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name == "__pycache__":  # pip compiles every .py file of a package
            continue
        if entry.is_dir():
            yield from _below(entry, f"{prefix}{entry.name}/")
        elif entry.name != "README.md":
            yield f"{prefix}{entry.name}", entry.read_text(encoding="utf-8")


def _title(text: str) -> str:
    """Return the first sentence of the first comment, or of the field "description" in JSON."""
    if text.startswith("{"):
        return str(json.loads(text).get("description", "")).partition(". ")[0]
    comments = [line.lstrip("# ") for line in text.splitlines() if line.startswith("#") and not line.startswith("#!")]
    return comments[0].partition(". ")[0].rstrip(".:") if comments else ""
