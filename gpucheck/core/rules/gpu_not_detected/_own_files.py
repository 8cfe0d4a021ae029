"""A failed import caused by a user's file: one that hides an installed module, or Keras settings that can't be read."""

import re

import msgspec

from gpucheck.core.model import Evidence, Finding, Fix, Severity, saw
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.commands import without
from gpucheck.core.system.shells import word


class Obstacle(msgspec.Struct, frozen=True):
    """Why an import fails: the words after "can't be imported: ", the evidence and the fix."""

    words: str
    evidence: tuple[Evidence, ...]
    fix: tuple[Fix, ...]
    sure: bool = True  # False: the import may succeed anyway

    def finding(self, name: str, more: tuple[Evidence, ...] = ()) -> Finding:
        """The finding that this keeps ``name`` from being imported, with more evidence."""
        fails = "can't be imported" if self.sure else "may not work"
        return Finding(
            summary=f"{name} {fails}: {self.words}.",
            evidence=(*self.evidence, *more),
            fix=self.fix,
            severity=None if self.sure else Severity.WARNING,
        )


def own_file(fact: TensorFlow | Keras | Backend) -> Obstacle | None:
    """Return the user's file that made the import fail; None if no file did."""
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
            Fix(text=f"Correct {path}, or rename it: Keras writes a new one", command=put_aside),
            Fix.look("Show its content", f"cat {word(path)}"),
        ),
    )


def renaming(module: str, file: str) -> tuple[Fix, ...]:
    """Return the fixes: rename the file that hides a module, or leave the folder, which may be a source tree."""
    if library := re.match(r"(.*/lib/python3\.\d+)/(?!site-packages/|dist-packages/)", file):
        text = f"Take {library[1]} out of PYTHONPATH: it is the standard library of another Python"
        return (Fix(text=text, command=without("PYTHONPATH", library[1])),)
    own = re.sub(r"[/\\]__init__\.\w+$", "", file)
    name = re.split(r"[/\\]", own)[-1]
    folder = own.removesuffix(name)
    command = f"mv {word(own)} {word(f'{folder}my_{name}')} && rm -rf {word(f'{folder}__pycache__')}"
    rename = Fix(
        text=f"Rename it, and delete the __pycache__ next to it: Python imports it instead of {module}",
        command=None if "\\" in own else command,
    )
    if own == file and name.endswith(".py"):
        return rename, Fix(text="Or start from another folder, and remove this folder from PYTHONPATH")
    leave = f"Start Python in another folder, without PYTHONPATH: it imports {module} from {folder or 'the current folder'}"
    return Fix(text=leave, command="cd ~ && unset PYTHONPATH"), rename
