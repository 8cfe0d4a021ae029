"""What runs the experiments: every file of ``gpucheck/experiments``, one after the other, each under a stage of its own."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from gpucheck.child import plan
from gpucheck.child.runtime import Stages
from gpucheck.child.smoke.fit import fresh
from gpucheck.child.smoke.proof import first_sentence


class NotHere(Exception):
    """An experiment that can't be made on this machine; its words say why."""


class Setting:
    """What an experiment has at hand."""

    def __init__(self, stages: Stages, tf: Any, keras: Any, names: dict[str, str], runs: list[dict[str, Any]]) -> None:
        """Keep what the framework child has.

        Args:
            stages: the report to the parent, to tell steps of long work.
            tf: TensorFlow, initialised.
            keras: the module to train with.
            names: TensorFlow's logical name by the name of a device; all that can be trained on.
            runs: accounts of the training jobs that ran before, as reported.
        """
        self.stages, self.tf, self.keras, self.names, self.runs = stages, tf, keras, names, runs

    def devices(self) -> list[str]:
        """The accelerators, or the logical CPU devices where there is none."""
        accelerators = [name for name in self.names if not name.startswith("CPU")]
        return accelerators or list(self.names)

    def passed(self, strategy: str, count: int = 1, precision: str = "float32") -> dict[str, Any] | None:
        """The account of a run that passed, not compiled by XLA, on that many devices; None: there is none."""
        for run in self.runs:
            like = (run["strategy"], len(run["devices"]), run["precision"], run["compiled"])
            if like == (strategy, count, precision, False) and run["status"] == "passed":
                return run
        return None


def stage(account: dict[str, Any]) -> str:
    """The stage under which a training job was reported: what ``fields`` of an experiment go by."""
    name: str = plan.planned(account["strategy"], tuple(account["devices"]), account["precision"], account["compiled"])["stage"]
    return name


def names() -> list[str]:
    """Names of the experiments: the files of their folder."""
    package = importlib.import_module("gpucheck.experiments")
    return sorted(item.name for item in pkgutil.iter_modules(package.__path__) if not item.name.startswith("_"))


def run_all(setting: Setting) -> None:
    """Make every experiment; one that raises is reported as failed, and the next one is made.

    A file has one function, ``run(setting)``. It returns a dict: ``devices`` (names), ``figures`` (numbers by name, the unit in
    the name; None: unknown), ``problem`` (why what it shows is a fault; None: none) and ``fields``: what it adds to earlier runs'
    accounts, by their stage. It raises ``NotHere`` where it can't be made.
    """
    if setting.keras is None or not any(run["status"] == "passed" for run in setting.runs):
        return  # what does not train is not worth an experiment
    for name in names():
        stage = f"experiment {name}"
        setting.stages.begin(stage)
        result: dict[str, Any] = {"name": name, "status": "failed"}
        try:
            found = importlib.import_module("gpucheck.experiments." + name).run(setting)
            problem = found.pop("problem", None)
            result.update(found, status="failed" if problem else "passed", reason=problem)
        except NotHere as reason:
            result.update(status="skipped", reason=str(reason))
        except Exception as error:
            result.update(reason=first_sentence(error))
            fresh(setting.keras, "float32")  # it had no chance to clear up behind itself
        setting.stages.end(stage, result)
