"""Experiments: each file measures one thing after the training jobs, in the child process, with ``--full``.

They show why training is slow, what an option costs, and whether a machine recovers. A file has one function, ``run(setting)``,
which returns an ``ExperimentResult``, or raises ``NotHere`` if it can't run. It uses only the standard library, TensorFlow, Keras
and the smoke job.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
from typing import Any

from gpucheck.core.child.messages.training import ExperimentResult, TrainingRun
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.training.smoke.proof import first_sentence
from gpucheck.core.training.smoke.tensorflow import fresh


class NotHere(Exception):
    """An experiment that can't run on this machine; the message is the reason."""


class Setting:
    """What an experiment can use."""

    def __init__(self, tf: Any, keras: Any, names: dict[str, str], results: list[TrainingRun]) -> None:
        """Keep the state of the framework child.

        Args:
            tf: TensorFlow, initialized.
            keras: the module to train with.
            names: TensorFlow's logical name by device name, for all devices that can be trained on.
            results: the results of the training jobs that ran before.
        """
        self.tf, self.keras, self.names, self.results = tf, keras, names, results

    def devices(self) -> list[str]:
        """Return the accelerators, or the logical CPU devices if there are none."""
        accelerators = [name for name in self.names if not name.startswith("CPU")]
        return accelerators or list(self.names)

    def passed(
        self, strategy: str, count: int = 1, precision: str = "float32", device: str | None = None, compiled: bool = False
    ) -> TrainingRun | None:
        """Return the result of a passed job with this strategy, number of devices, precision and, if given, device; else None."""
        for result in self.results:
            key = (result.strategy, len(result.devices), result.precision, result.compiled, result.status)
            if key == (strategy, count, precision, compiled, "passed") and device in (None, *result.devices):
                return result
        return None


def names() -> list[str]:
    """Return the names of the experiments: the files in this folder."""
    return sorted(item.name for item in pkgutil.iter_modules(__path__) if not item.name.startswith("_"))


def run_all(setting: Setting, reporter: Reporter) -> None:
    """Run every experiment; one that raises is reported as failed, and the next one runs."""
    if setting.keras is None or not any(result.status == "passed" for result in setting.results):
        return  # experiments need a job that passed
    for name in names():
        reporter.begin(ExperimentResult, name)
        try:
            result: ExperimentResult = importlib.import_module(f"{__name__}.{name}").run(setting)
        except NotHere as reason:
            result = ExperimentResult(skipped=str(reason))
        except Exception as error:
            result = ExperimentResult(problem=first_sentence(error))
        fresh(setting.keras, "float32")
        gc.collect()  # releases the models of the experiment
        reporter.end(result, name)
