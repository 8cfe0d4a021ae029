"""The command ``recipe``: print the scripts and manifests for schedulers, monitoring and CI that are installed with gpucheck."""

import json
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

import click

from gpucheck.cli.parameters import Command
from gpucheck.cli.screen import display_options, show
from gpucheck.core.reports.shared.terminal_text import TerminalText

if TYPE_CHECKING:  # at run time, its module depends on the Python version
    from importlib.abc import Traversable

OTHER_NAMES = {"ci": "github-actions or gitlab", "k8s": "kubernetes"}
EXAMPLES = """\b
Examples:
  gpucheck recipe
  gpucheck recipe slurm/prolog.sh > /etc/slurm/prolog.sh
  gpucheck recipe prometheus/alerts.yaml
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("name", required=False, shell_complete=lambda ctx, param, incomplete: completions(incomplete))
def recipe(name: str | None) -> None:
    """Print a recipe for Slurm, Kubernetes, Prometheus, Grafana, systemd, containers, CI or pre-commit.

    Without NAME, or with the name of a folder, list the recipes. Copy a recipe and adapt it as its comments describe.
    """
    recipes = dict(_recipes())
    requested = (name or "").rstrip("/")
    matching = {each: text for each, text in recipes.items() if not requested or requested in (each, *each.split("/"))}
    if not matching:
        raise click.UsageError(f"no recipe {name!r}{_suggestion(requested, recipes)}")
    show(next(iter(matching.values())) if requested and len(matching) == 1 else _listed(matching))


def _suggestion(requested: str, recipes: Iterable[str]) -> str:
    """Return the end of the error message: a name with these letters, or else a similar one."""
    from gpucheck.core.model.naming import did_you_mean

    words = sorted({part for each in recipes for part in (each, *each.split("/"))}, key=lambda word: (len(word), word))
    letters = _letters(requested)
    begin = [word for word in words if _letters(word).startswith(letters)]
    found = OTHER_NAMES.get(letters) or next(iter(begin or [word for word in words if letters in _letters(word)]), None)
    if found and letters:
        return f" (did you mean {found}?)"
    return did_you_mean(requested, words, otherwise="; `gpucheck recipe` lists them")


def _letters(name: str) -> str:
    """Return a name without characters that people omit or write differently: "pre-commit", "precommit"."""
    return "".join(filter(str.isalnum, name.lower()))


def _listed(recipes: dict[str, str]) -> str:
    """Return a line of each recipe's name and title; a title that is too long continues on the next line."""
    text = TerminalText(**display_options("never"))
    width = max(map(len, recipes)) + 2
    for name, content in recipes.items():
        text.add(_title(content), label=name, hang=width)
    return str(text)


def completions(incomplete: str) -> list[str]:
    """Return the names that start with the incomplete word."""
    return [name for name, _ in _recipes() if name.startswith(incomplete)]


def _recipes() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each recipe, even from a zip file."""
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
