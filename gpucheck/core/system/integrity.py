"""Whether the files of this installation are the ones that the package manager wrote: an incomplete gpucheck gives no verdict.

A rule that is missing finds nothing, and half a module may still import. Each installed distribution lists its files with their
sizes in RECORD (packaging.python.org, "Recording installed projects"), so one stat(2) per file tells. A checkout and packages
of a distribution have no such list and are not compared. Only what Python has loaded before is imported here.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DISTRIBUTION = "keras_gpucheck"
# What pyproject.toml requires, by the name that the package manager gives its folder, and the module that is imported.
REQUIRED = {
    "click": "click",
    "msgspec": "msgspec",
    "nvidia_ml_py": "pynvml",
    "packaging": "packaging",
    "psutil": "psutil",
    "rich": "rich",
}
# pip and uv write RECORD last, so an installation of theirs without it is unfinished. dpkg removes it on purpose.
_WRITE_RECORD = ("", "pip", "uv")
_UNUSED = (".pyc", ".pyi")
_UNUSED_FOLDERS = ("tests", "test", "__pycache__")  # images are made smaller by removing them
_root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
_records: dict[str, tuple[int, int]] = {}  # each RECORD that was compared, with its inode and time of change


class Damaged(RuntimeError):
    """Files of gpucheck, or of a package that it needs, are missing or incomplete, or changed during the run."""

    def __init__(self, what: str) -> None:
        """Say what is damaged, and what to type."""
        super().__init__(f"no verdict: this installation of gpucheck is damaged: {what}. {_advice()}")


def verify() -> None:
    """Compare the size of each installed file with the one recorded.

    Raises:
        Damaged: a file is missing, or has another size.
    """
    if not os.path.exists(os.path.join(_root, "pyproject.toml")):  # of a checkout
        _verify_distribution(DISTRIBUTION, _root)
    for distribution, module in REQUIRED.items():
        folder = next((folder for folder in _folders() if _metadata(folder, distribution)), None)
        if folder is not None:
            _verify_distribution(distribution, folder)
        elif not _is_importable(module):
            raise Damaged(f"the package {module} is missing")


def verify_unchanged() -> None:
    """Whether the same distributions are installed as when ``verify`` compared them.

    Raises:
        Damaged: one was replaced or removed in the meantime.
    """
    for path, stamp in _records.items():
        if _stamp(path) != stamp:
            raise Damaged(f"{path} changed during the run")


def is_beside(distribution: str) -> bool:
    """Whether a distribution is installed into the same folder as gpucheck."""
    return bool(_metadata(_root, distribution))


def damaged_file(error: BaseException) -> str | None:
    """The file whose content ended an import: of a module that is missing or cut short, or of its compiled form."""
    if isinstance(error, SyntaxError):
        return error.filename
    place = error.__traceback__
    while place is not None:
        if "importlib._bootstrap_external" in place.tb_frame.f_code.co_filename:
            path = place.tb_frame.f_locals.get("bytecode_path")
            if isinstance(path, str) and isinstance(error, (EOFError, ValueError, TypeError)):
                return path
        place = place.tb_next
    if isinstance(error, ImportError):
        return error.path or error.name
    return None


def explain(error: BaseException) -> str | None:
    """What a damaged installation did to this run, as ``Damaged`` words it; None where the exception has another cause."""
    if isinstance(error, Damaged):
        return str(error)
    file = damaged_file(error)
    return None if file is None else str(Damaged(f"{file}: {type(error).__name__}: {error}"))


def _verify_distribution(distribution: str, folder: str) -> None:
    metadata = _metadata(folder, distribution)
    if not metadata and os.path.basename(folder) in ("site-packages", "dist-packages"):
        raise Damaged(f"{folder} has no metadata of {distribution}")
    if len(metadata) != 1:  # a copy of the folder; or a removal left one behind, and nothing says which is in force
        return
    found = metadata[0]
    record = os.path.join(folder, found, "RECORD")
    text = _read(record)
    if text is None:
        if (_read(os.path.join(folder, found, "INSTALLER")) or "").strip() in _WRITE_RECORD:
            raise Damaged(f"{record} is missing")
        return
    if not text.endswith("\n"):
        raise Damaged(f"{record} is incomplete")
    _records[record] = _stamp(record)
    for name, size in _files(text, found):
        path = os.path.join(folder, name)
        try:
            actual = os.stat(path).st_size
        except OSError as error:
            raise Damaged(f"{path}: {error.strerror}") from None
        if actual != size:
            raise Damaged(f"{path} has {actual} bytes instead of {size}")


def _files(record: str, metadata: str) -> Iterator[tuple[str, int]]:
    """Path below the installation's folder and size in bytes of each file that a run may need."""
    for line in record.splitlines():
        name, _, size = line.replace(",sha256=", ",", 1).rpartition(",")
        name = name.partition(",")[0]
        if not size.isdigit() or name.startswith(("..", "/", '"', metadata)) or name.endswith(_UNUSED):
            continue
        if not any(f"/{folder}/" in name for folder in _UNUSED_FOLDERS):
            yield name, int(size)


def _folders() -> list[str]:
    """Where packages are looked for: beside gpucheck first, as pip puts them."""
    return [_root, *(entry for entry in sys.path if entry and entry != _root)]


def _metadata(folder: str, distribution: str) -> list[str]:
    """The names of the folders in which a distribution's metadata is; several after a removal that was cut short."""
    return [name for name in _listed(folder) if _distribution(name) == distribution]


def _distribution(metadata: str) -> str:
    """The distribution to which a metadata folder belongs: "nvidia_ml_py" for "nvidia-ml-py-12.575.51.dist-info"."""
    return metadata.removesuffix(".dist-info").rpartition("-")[0].lower().replace("-", "_")


def _listed(folder: str) -> list[str]:
    """Names of metadata folders, listed once per run."""
    if folder not in _listings:
        try:
            names = os.listdir(folder)
        except OSError:
            names = []
        _listings[folder] = [name for name in names if name.endswith(".dist-info")]
    return _listings[folder]


_listings: dict[str, list[str]] = {}


def _is_importable(module: str) -> bool:
    from importlib.machinery import PathFinder

    return module in sys.modules or PathFinder.find_spec(module) is not None


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_ino, status.st_mtime_ns)


def _advice() -> str:
    return f"Install it again: {sys.executable} -m pip install --force-reinstall keras-gpucheck"
