"""A failed import whose cause is a file of the user's: one that hides an installed module, or settings that Keras can't take."""

import re
from typing import NamedTuple

from gpucheck.model import Evidence, Fix, saw
from gpucheck.probes.backend import Backend
from gpucheck.probes.keras import Keras
from gpucheck.probes.log import Event, Log
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._commands import word
from gpucheck.rules._log import told


class Cause(NamedTuple):
    """What stands in the way: the words after "can't be imported: ", what shows it, and how to clear it."""

    words: str
    evidence: tuple[Evidence, ...]
    fix: tuple[Fix, ...]


def own_file(fact: TensorFlow | Keras | Backend) -> Cause | None:
    """The user's file that ended the import; None if none did."""
    failure = saw(fact, "imported", "error_type", "error")
    for module, file in fact.shadows.items():
        return Cause(f"{file} hides the installed module {module}", (*saw(fact, "shadows"), *failure), renaming(module, file))
    if fact.keras_settings is None:
        return None
    path, _, problem = fact.keras_settings.rpartition("keras.json: ")
    path = f"{path}keras.json"
    return Cause(
        f"the settings in {path} can't be used: {problem}",
        (*saw(fact, "keras_settings"), *failure),
        (
            Fix(
                text=f"Correct {path}, or put it aside: Keras writes a new one", command=f"mv {word(path)} {word(path + '.old')}"
            ),
            Fix(text="See what it holds", command=f"cat {word(path)}"),
        ),
    )


def renaming(module: str, file: str) -> tuple[Fix, ...]:
    """Give the file that hides a module another name; or leave it out of Python's path."""
    own = re.sub(r"[/\\]__init__\.\w+$", "", file)
    name = re.split(r"[/\\]", own)[-1]
    folder = own.removesuffix(name)
    command = f"mv {word(own)} {word(f'{folder}my_{name}')} && rm -rf {word(f'{folder}__pycache__')}"
    return (
        Fix(
            text=f"Rename it, and delete the __pycache__ beside it: Python takes it for {module}",
            command=None if "\\" in own else command,
        ),
        Fix(text="Or start from another folder, and leave that one out of PYTHONPATH"),
    )


def hiding(log: Log) -> tuple[str, str | None, list[Event]] | None:
    """The module that a file of one's own hides in a log, that file if it is told, and the lines that show it."""
    files = told(log, "own-file")
    bare = [one for one in told(log, "import-failed") if "has no attribute" in one.text]
    for event in (*told(log, "module-hidden"), *bare):
        module = event.fields.get("module", "")
        frames = [one for one in files if one.fields["module"] == module]
        file = next((one.fields["file"] for one in (event, *frames) if one.fields.get("file")), None)
        certain = event.kind == "module-hidden" and (module == "tensorflow" or "is not a package" in event.text)
        if file or certain:
            return module, file, [*frames[:1], event]
    return None
