"""Predict from metadata and the file system whether an import fails: hidden modules and missing requirements."""

import re
from collections.abc import Iterable

from gpucheck.core.combiners.installation import Installation
from gpucheck.core.compat import versions
from gpucheck.core.model import Fix, Fixes, saw
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.commands import without
from gpucheck.core.rules.gpu_not_detected._failed_packages import conflicts
from gpucheck.core.rules.gpu_not_detected._own_files import Obstacle, renaming

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


def foreseen(installation: Installation) -> Obstacle | None:
    """Return why the import of TensorFlow will, or may, fail."""
    packages = installation.packages
    for module, file in packages.hidden.items():
        return Obstacle(f"{file} hides the installed module {module}", saw(packages, "hidden"), renaming(module, file))
    return lacking(installation, "tensorflow")


def lacking(installation: Installation, requirer: str | None = None) -> Obstacle | None:
    """Return the requirement that is missing or has the wrong version.

    Args:
        installation: the examined environment.
        requirer: "tensorflow" or "keras"; None: either.
    """
    packages = installation.packages
    places = [
        place for place, one in enumerate(packages.unmet) if one.name not in _NOT_IMPORTED and requirer in (None, one.requirer)
    ]
    if not places:
        return None
    places.sort(key=lambda place: not _fails(packages, place))
    first = packages.unmet[places[0]]
    have = f"but {first.installed} is installed" if first.installed else "which is not installed"
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    wanted = {packages.unmet[place].name: packages.unmet[place] for place in reversed(places)}
    install = installation.context.pip(*(f"{name}{one.specifier}" for name, one in sorted(wanted.items())))
    return Obstacle(
        f"it needs {first.name}{' ' if first.specifier else ''}{first.specifier}, {have}{more}",
        saw(packages, *(f"unmet[{place}].{field}" for place in places for field in ("name", "specifier", "installed"))),
        (
            *foreign(installation, wanted),
            Fix(text="Install the required versions", command=install),
            conflicts(installation.context),
        ),
        sure=_fails(packages, places[0]),
    )


def foreign(installation: Installation, wanted: Iterable[str]) -> Fixes:
    """Remove folders from PYTHONPATH that hide the environment's own packages; installing others would change nothing."""
    interpreter = installation.interpreter
    own = (interpreter.prefix, interpreter.base_prefix)
    for one in installation.packages.others:
        if one.name in wanted and not one.folder.startswith(own) and "/.local/" not in one.folder:
            text = f"Take {one.folder} out of PYTHONPATH: its {one.name} {one.version} comes before the environment's own"
            yield Fix(text=text, command=without("PYTHONPATH", one.folder))


def incomplete(installation: Installation, keras: Keras) -> Obstacle | None:
    """Return the missing part of the installed Keras, as after an interrupted removal."""
    absent = re.search(r"No module named '(keras(?:\.\w+)+)'", keras.error or "")
    again = installation.context.reinstall(["keras", "keras-nightly"])
    if absent is None or again is None:
        return None
    return Obstacle(f"files of it are missing ({absent[1]})", saw(keras, "imported", "error_type", "error"), (again,))


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
