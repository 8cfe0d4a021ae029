"""The rules of ``gpucheck lint``, discovered in their folder.

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
from collections.abc import Collection
from typing import Any

from gpucheck.core.engine.discovery import modules
from gpucheck.core.model import Scope, Severity
from gpucheck.core.model.plugin import Row, Rule

ROW = "training-script"
ROWS = {ROW: Row(problem="Training script", first_check="gpucheck lint TRAIN.py", action="change the lines that it names")}


def load_rules() -> tuple[Rule, ...]:
    """Return every lint rule, sorted by code. ``check`` takes a ``Script`` and yields findings."""
    return tuple(_rule(importlib.import_module(name)) for name in modules("gpucheck.commands.lint.rules"))


def _rule(module: Any) -> Rule:
    return Rule(
        code=module.__name__.rpartition(".")[2].replace("_", "-"),
        row=ROW,
        severity=Severity(getattr(module, "SEVERITY", "error")),
        scope=Scope.CODE,
        explains=getattr(module, "EXPLAINS", ()),
        needs=(),
        check=module.check,
        doc=module.__doc__ or "",
    )


def words(rule: Rule) -> Collection[str]:
    """Return the words of a rule. A program without any of them is not checked by the rule."""
    page_words: Collection[str] = importlib.import_module(rule.check.__module__).WORDS
    return page_words
