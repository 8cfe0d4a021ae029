"""The rules of ``gpucheck lint``, discovered in their folder.

The page of a lint rule has the sections of every page (``gpucheck/core/engine/manual.py``); its example is code:

    Example:
        bad:
            import keras
            os.environ["KERAS_BACKEND"] = "jax"
        good:
            os.environ["KERAS_BACKEND"] = "jax"
            import keras

The test suite lints both: the first must be reported with exactly this code, the second must have no finding.
"""

import importlib

from gpucheck.commands.lint.script import LintRule
from gpucheck.core.engine.discovery import modules
from gpucheck.core.model.plugin import Row

_ROW = Row(problem="Training script", first_check="gpucheck lint TRAIN.py", action="change the lines that it reports")
ROWS = {"training-script": _ROW}


def load_rules() -> tuple[LintRule, ...]:
    """Return every lint rule, sorted by code. ``check`` takes a ``Script`` and yields findings."""
    return tuple(importlib.import_module(name).check.plugin for name in modules("gpucheck.commands.lint.rules"))
