"""What metadata and the file system tell of an import before anybody tries it: what hides a module, and what it needs and lacks."""

from gpucheck.core.combiners.installation import Installation
from gpucheck.core.compat import versions
from gpucheck.core.model import Fix, saw
from gpucheck.core.probes.packages import Packages
from gpucheck.core.rules.gpu_not_detected._own_files import Obstacle, renaming

# Required by TensorFlow 2.20 and 2.21 and Keras 3.15, and imported without: each was hidden from Python, then both imported.
_NOT_IMPORTED = frozenset(
    {
        "google-pasta",
        "grpcio",
        "h5py",
        "libclang",
        "namex",
        "setuptools",
        "tensorboard",
        "tensorflow-io-gcs-filesystem",
        "wheel",
    }
)
_BREAKING = ("numpy", "protobuf")  # whose next major is another interface


def foreseen(installation: Installation) -> Obstacle | None:
    """Why the import of TensorFlow will fail, or may."""
    packages = installation.packages
    for module, file in packages.hidden.items():
        return Obstacle(f"{file} hides the installed module {module}", saw(packages, "hidden"), renaming(module, file))
    return lacking(installation, "tensorflow")


def lacking(installation: Installation, requirer: str | None = None) -> Obstacle | None:
    """What is required and missing, or of another version.

    Args:
        installation: the examined one.
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
    have = f"and {first.installed} is installed" if first.installed else "which is not installed"
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    wanted = {packages.unmet[place].name: packages.unmet[place] for place in reversed(places)}
    install = installation.pip(*(f"{name}{one.specifier}" for name, one in sorted(wanted.items())))
    return Obstacle(
        f"it needs {first.name}{' ' if first.specifier else ''}{first.specifier}, {have}{more}",
        saw(packages, *(f"unmet[{place}].{field}" for place in places for field in ("name", "specifier", "installed"))),
        (
            Fix(text="Install what it needs, and nothing else", command=install),
            Fix(
                text="See which packages do not fit together",
                command=f"{installation.python} -m pip check",
                kind="look",
            ),
        ),
        sure=_fails(packages, places[0]),
    )


def _fails(packages: Packages, place: int) -> bool:
    """Whether the import fails for want of it: what is newer than asked for mostly works. NVIDIA's builds have rules of their own."""
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
