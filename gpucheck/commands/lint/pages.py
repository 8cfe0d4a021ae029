"""The rules of ``gpucheck lint``, discovered in their folder, and the tested examples of their pages.

The page of a lint rule has the sections of every page (``gpucheck/core/engine/manual.py``); its example is code:

    Example:
        bad:
            import keras
            os.environ["KERAS_BACKEND"] = "jax"
        good:
            os.environ["KERAS_BACKEND"] = "jax"
            import keras

The test suite lints both: the first is reported with exactly this code, the second not at all.
"""

import importlib
import re
import textwrap
from typing import Any, NamedTuple

from gpucheck.core.engine.discovery import modules
from gpucheck.core.engine.manual import Page
from gpucheck.core.model import Scope
from gpucheck.core.model.plugin import Row, Rule

ROW = "training-script"
ROWS = {
    ROW: Row(
        problem="Training script",
        first_check="gpucheck lint TRAIN.py",
        action="change the lines that it names",
    )
}


class Example(NamedTuple):
    """The two programs of a page."""

    bad: str
    good: str


def load_rules() -> tuple[Rule, ...]:
    """Return every lint rule, sorted by code. ``check`` takes a ``Script`` and yields findings."""
    return tuple(_rule(importlib.import_module(name)) for name in modules("gpucheck.commands.lint.rules"))


def _rule(module: Any) -> Rule:
    return Rule(
        code=module.__name__.rpartition(".")[2].replace("_", "-"),
        row=ROW,
        severity=module.SEVERITY,
        scope=Scope.CODE,
        explains=getattr(module, "EXPLAINS", ()),
        needs=(),
        check=module.check,
        doc=module.__doc__ or "",
    )


def words(rule: Rule) -> tuple[str, ...]:
    """Return the words of which a program must contain one for the rule to apply; others are not followed."""
    page_words: tuple[str, ...] = importlib.import_module(rule.check.__module__).WORDS
    return page_words


def example(page: Page) -> Example:
    """Return the two programs of a page's example.

    Raises:
        ValueError: the example is not a bad and a good program.
    """
    match = re.fullmatch(r"bad:\n(.+?)\ngood:\n(.+)", page.sections["Example"], flags=re.DOTALL)
    if match is None:
        raise ValueError(f"the example of {page.code} is not 'bad:' and 'good:' with indented code")
    return Example(*(textwrap.dedent(code).strip("\n") + "\n" for code in match.groups()))
