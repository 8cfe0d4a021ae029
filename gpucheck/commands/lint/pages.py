"""The rules of ``gpucheck lint``, found by walking their folder, and the executed example of their pages.

The page of a lint rule has the sections of every page (``gpucheck/core/engine/manual.py``); its example is code:

    Example:
        bad:
            import keras
            os.environ["KERAS_BACKEND"] = "jax"
        good:
            os.environ["KERAS_BACKEND"] = "jax"
            import keras

The test suite lints both: the first raises exactly this code, the second nothing.
"""

import importlib
import re
import textwrap
from typing import Any, NamedTuple

from gpucheck.core.engine.manual import Page
from gpucheck.core.engine.plugin import Row, Rule, modules
from gpucheck.core.model import Scope

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
    """Every lint rule, sorted by code. ``check`` takes a ``Script`` and yields findings."""
    return tuple(_rule(importlib.import_module(name)) for name in modules("gpucheck.commands.lint.rules"))


def _rule(module: Any) -> Rule:
    return Rule(
        code=module.__name__.rpartition(".")[2].replace("_", "-"),
        row=ROW,
        severity=module.SEVERITY,
        scope=Scope.CODE,
        explains=(),
        needs=(),
        check=module.check,
        doc=module.__doc__ or "",
    )


def words(rule: Rule) -> tuple[str, ...]:
    """A program in which none of these words stands has nothing for the rule, so it need not be followed."""
    page_words: tuple[str, ...] = importlib.import_module(rule.check.__module__).WORDS
    return page_words


def example(page: Page) -> Example:
    """The two programs of a page's example.

    Raises:
        ValueError: it is not a bad and a good program.
    """
    match = re.fullmatch(r"bad:\n(.+?)\ngood:\n(.+)", page.sections["Example"], flags=re.DOTALL)
    if match is None:
        raise ValueError(f"the example of {page.code} is not 'bad:' and 'good:' with indented code")
    return Example(*(textwrap.dedent(code).strip("\n") + "\n" for code in match.groups()))
