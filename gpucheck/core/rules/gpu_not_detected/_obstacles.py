"""Causes of failing imports: a user's file that shadows a module, Keras settings that can't be read, unmet requirements."""

import re
from collections.abc import Iterable

import msgspec

from gpucheck.core.compat import versions
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Severity, saw
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.commands import without
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._failed_packages import conflicts
from gpucheck.core.system.shells import word

# Required by TensorFlow 2.20 and 2.21 and Keras 3.15, but both import without them (tested with each one hidden from Python).
_NOT_IMPORTED = (
    "google-pasta",
    "grpcio",
    "h5py",
    "libclang",
    "namex",
    "setuptools",
    "tensorboard",
    "tensorflow-io-gcs-filesystem",
    "wheel",
)
_BREAKING = ("numpy", "protobuf")  # a new major version changes the interface


class Obstacle(msgspec.Struct, frozen=True):
    """The cause of a failing import: the words after "can't be imported: ", the evidence and the fix."""

    words: str
    evidence: tuple[Evidence, ...]
    fix: tuple[Fix, ...]
    sure: bool = True  # False: the import may succeed anyway

    def finding(self, name: str, more: tuple[Evidence, ...] = ()) -> Finding:
        """Return the finding that ``name`` can't be imported for this reason, with more evidence."""
        fails = "can't be imported" if self.sure else "may not work"
        return Finding(
            summary=f"{name} {fails}: {self.words}.",
            evidence=(*self.evidence, *more),
            fix=self.fix,
            severity=None if self.sure else Severity.WARNING,
        )


def user_file(fact: TensorFlow | Keras | Backend) -> Obstacle | None:
    """Return the user's file that made the import fail; None if no file did."""
    failure = saw(fact, "imported", "error_type", "error")
    for module, file in fact.shadows.items():
        return Obstacle(
            f"{file} shadows the installed module {module}", (*saw(fact, "shadows"), *failure), renaming(module, file)
        )
    if fact.keras_settings is None:
        return None
    path, _, problem = fact.keras_settings.rpartition("keras.json: ")
    path = f"{path}keras.json"
    rename_command = f"mv {word(path)} {word(path + '.old')}"
    return Obstacle(
        f"the settings in {path} can't be used: {problem}",
        (*saw(fact, "keras_settings"), *failure),
        (
            Fix(text=f"Correct {path}, or rename it: Keras writes a new one", command=rename_command),
            Fix.look("Show its contents", f"cat {word(path)}"),
        ),
    )


def renaming(module: str, file: str) -> tuple[Fix, ...]:
    """Return the fixes: rename the file that hides a module, or leave the folder, which may be a source tree."""
    if library := re.match(r"(.*/lib/python3\.\d+)/(?!site-packages/|dist-packages/)", file):
        text = f"Remove {library[1]} from PYTHONPATH: it contains the standard library of another Python"
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
        return rename, Fix(text="Or start Python in another folder, and remove this folder from PYTHONPATH")
    leave = f"Start Python in another folder, without PYTHONPATH: it imports {module} from {folder or 'the current folder'}"
    return Fix(text=leave, command="cd ~ && unset PYTHONPATH"), rename


def predicted_failure(packages: Packages, context: Context) -> Obstacle | None:
    """Return why the import of TensorFlow will fail, or may fail."""
    for module, file in packages.hidden.items():
        return Obstacle(f"{file} shadows the installed module {module}", saw(packages, "hidden"), renaming(module, file))
    return unmet_requirement(packages, context, "tensorflow")


def unmet_requirement(packages: Packages, context: Context, requirer: str | None = None) -> Obstacle | None:
    """Return the required package that is missing or has the wrong version.

    Args:
        packages: those of the examined environment.
        context: what is known about the machine.
        requirer: "tensorflow" or "keras"; None: either.
    """
    places = [
        place for place, one in enumerate(packages.unmet) if one.name not in _NOT_IMPORTED and requirer in (None, one.requirer)
    ]
    if not places:
        return None
    places.sort(key=lambda place: not _fails(packages, place))
    first = packages.unmet[places[0]]
    have = f"but {first.installed} is installed" if first.installed else "which is not installed"
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    required = {packages.unmet[place].name: packages.unmet[place] for place in reversed(places)}
    install = context.pip(*(f"{name}{one.specifier}" for name, one in sorted(required.items())))
    return Obstacle(
        f"it needs {first.name}{' ' if first.specifier else ''}{first.specifier}, {have}{more}",
        saw(packages, *(f"unmet[{place}].{field}" for place in places for field in ("name", "specifier", "installed"))),
        (
            *remove_from_pythonpath(packages, context, required),
            Fix(text="Install the required versions", command=install),
            conflicts(context),
        ),
        sure=_fails(packages, places[0]),
    )


def remove_from_pythonpath(packages: Packages, context: Context, required: Iterable[str]) -> Fixes:
    """Remove folders from PYTHONPATH that hide the environment's own packages; installing others would change nothing."""
    if context.interpreter is None:
        return  # it is unknown which folders are the environment's own
    own = (context.interpreter.prefix, context.interpreter.base_prefix)
    for one in packages.others:
        if one.name in required and not one.folder.startswith(own) and "/.local/" not in one.folder:
            text = f"Remove {one.folder} from PYTHONPATH: its {one.name} {one.version} comes before the environment's own"
            yield Fix(text=text, command=without("PYTHONPATH", one.folder))


def incomplete(keras: Keras, context: Context) -> Obstacle | None:
    """Return the missing part of the installed Keras, as after an interrupted removal."""
    absent = re.search(r"No module named '(keras(?:\.\w+)+)'", keras.error or "")
    again = context.reinstall(["keras", "keras-nightly"])
    if absent is None or again is None:
        return None
    return Obstacle(f"some of its files are missing ({absent[1]})", saw(keras, "imported", "error_type", "error"), (again,))


def _fails(packages: Packages, place: int) -> bool:
    """Whether the import fails without it. Newer versions than required usually work; NVIDIA's builds have their own rules."""
    one = packages.unmet[place]
    if packages.tensorflow is None or "+" in packages.tensorflow.version:
        return False
    if one.installed is None:
        return True
    for clause in one.specifier.split(","):
        bound = clause.lstrip("<>=~!")
        if clause.startswith((">", "==", "~=")) and not versions.at_least(one.installed, bound):
            return True
        if clause.startswith("<") and one.name in _BREAKING and versions.parse(one.installed)[:1] >= versions.parse(bound)[:1]:
            return True
    return False
