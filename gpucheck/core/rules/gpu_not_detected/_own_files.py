"""A failed import whose cause is a file of the user's: one that hides an installed module, or settings that Keras can't take."""

import re

import msgspec

from gpucheck.core.model import Evidence, Fix, saw
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.shells import word


class Obstacle(msgspec.Struct, frozen=True):
    """What stands in the way: the words after "can't be imported: ", what shows it, and how to clear it."""

    words: str
    evidence: tuple[Evidence, ...]
    fix: tuple[Fix, ...]
    sure: bool = True  # the import fails; else it may


def own_file(fact: TensorFlow | Keras | Backend) -> Obstacle | None:
    """The user's file that ended the import; None if none did."""
    failure = saw(fact, "imported", "error_type", "error")
    for module, file in fact.shadows.items():
        return Obstacle(f"{file} hides the installed module {module}", (*saw(fact, "shadows"), *failure), renaming(module, file))
    if fact.keras_settings is None:
        return None
    path, _, problem = fact.keras_settings.rpartition("keras.json: ")
    path = f"{path}keras.json"
    put_aside = f"mv {word(path)} {word(path + '.old')}"
    return Obstacle(
        f"the settings in {path} can't be used: {problem}",
        (*saw(fact, "keras_settings"), *failure),
        (
            Fix(text=f"Correct {path}, or put it aside: Keras writes a new one", command=put_aside),
            Fix(text="See what it holds", command=f"cat {word(path)}", kind="look"),
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
