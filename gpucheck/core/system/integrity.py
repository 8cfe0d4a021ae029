"""Verification of this installation's files against the package manager's lists: an incomplete gpucheck gives no verdict.

A missing rule finds nothing, and a truncated module may still import. Each installed distribution lists its files with their
sizes in RECORD (packaging.python.org, "Recording installed projects"), so one stat(2) per file is enough. A checkout and
packages of a Linux distribution have no RECORD and are not checked. Imports only modules that Python has already loaded.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DISTRIBUTION = "keras_gpucheck"
# The requirements of pyproject.toml: distribution name in the metadata folder -> imported module.
REQUIRED = {
    "click": "click",
    "msgspec": "msgspec",
    "nvidia_ml_py": "pynvml",
    "packaging": "packaging",
    "psutil": "psutil",
    "rich": "rich",
}
# pip and uv write RECORD last, so their installations without it are unfinished. dpkg removes it on purpose.
_WRITE_RECORD = ("", "pip", "uv")
_UNUSED = (".pyc", ".pyi")
_UNUSED_FOLDERS = ("tests", "test", "__pycache__")  # often removed to make images smaller
_root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
_records: dict[str, tuple[int, int]] = {}  # each checked RECORD -> inode and modification time


class Damaged(RuntimeError):
    """Files of gpucheck or of a required package are missing, incomplete, or changed during the run."""

    def __init__(self, what: str) -> None:
        """Set the message: what is damaged, and the command to reinstall."""
        super().__init__(f"no verdict: this installation of gpucheck is damaged: {what}. {_advice()}")


def verify() -> None:
    """Compare the size of each installed file with its size in RECORD.

    Raises:
        Damaged: a file is missing or has another size.
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
    """Check that the distributions have not changed since ``verify``.

    Raises:
        Damaged: one was replaced or removed in the meantime.
    """
    for path, stamp in _records.items():
        if _stamp(path) != stamp:
            raise Damaged(f"{path} changed during the run")


def report_namesake() -> bool:
    """Warn if the other package named ``gpucheck`` on PyPI is installed; return whether it replaced or removed our files.

    Both install into one folder, so removing it removes our files.
    """
    ours = sys.modules[__name__.partition(".")[0]]  # imported before any of our modules
    broken = getattr(ours, "DISTRIBUTION", None) is None
    if broken or _metadata(_root, "gpucheck"):
        state = (
            "has overwritten or removed files of this one"
            if broken
            else "is installed in the same folder: removing it breaks this one"
        )
        try:  # noqa: SIM105 - contextlib may be the missing module
            sys.stderr.write(
                f"gpucheck: another package named gpucheck {state} (keras-gpucheck). Type: {sys.executable} -m pip uninstall -y"
                " gpucheck keras-gpucheck; then install this one again\n"
            )
        except (OSError, ValueError, AttributeError):  # a closed stream is None
            pass
    return broken


def damaged_file(error: BaseException) -> str | None:
    """Return the file that made an import fail: a missing or truncated module, or its bytecode."""
    if isinstance(error, (SyntaxError, ValueError)) and "null bytes" in str(error):  # it names no file
        return _with_null_bytes()
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


def _with_null_bytes() -> str | None:
    """Return the first module with null bytes, which a file system leaves after a power failure, in a file of the right size."""
    for module in ("gpucheck", *REQUIRED.values()):
        for folder in _folders():
            for path, _, names in os.walk(os.path.join(folder, module)):
                for file in (os.path.join(path, name) for name in sorted(names) if name.endswith(".py")):
                    if "\0" in (_read(file) or ""):
                        return file
    return None


def explain(error: BaseException) -> str | None:
    """Return the message of ``Damaged`` if a damaged installation caused the exception; else None."""
    if isinstance(error, Damaged):
        return str(error)
    file = damaged_file(error)
    return None if file is None else str(Damaged(f"{file}: {type(error).__name__}: {error}"))


def _verify_distribution(distribution: str, folder: str) -> None:
    metadata = _metadata(folder, distribution)
    if not metadata and os.path.basename(folder) in ("site-packages", "dist-packages"):
        raise Damaged(f"{folder} has no metadata of {distribution}")
    if len(metadata) != 1:  # a copy of the folder, or left over from an interrupted removal: which one is valid is unknown
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
    """Yield the relative path and the size in bytes of each file that a run may need."""
    for line in record.splitlines():
        name, _, size = line.replace(",sha256=", ",", 1).rpartition(",")
        name = name.partition(",")[0]
        if not size.isdigit() or name.startswith(("..", "/", '"', metadata)) or name.endswith(_UNUSED):
            continue
        if not any(f"/{folder}/" in name for folder in _UNUSED_FOLDERS):
            yield name, int(size)


def _folders() -> list[str]:
    """Return the folders to search for packages: next to gpucheck first, where pip installs them."""
    return [_root, *(entry for entry in sys.path if entry and entry != _root)]


def _metadata(folder: str, distribution: str) -> list[str]:
    """Return the names of a distribution's metadata folders; several after an interrupted removal."""
    return _listed(folder).get(distribution, [])


def _distribution(metadata: str) -> str:
    """Return the distribution of a metadata folder: "nvidia_ml_py" for "nvidia-ml-py-12.575.51.dist-info"."""
    return metadata.removesuffix(".dist-info").rpartition("-")[0].lower().replace("-", "_")


def _listed(folder: str) -> dict[str, list[str]]:
    """Return the names of all metadata folders by distribution, listed once per run."""
    if folder not in _listings:
        try:
            names = os.listdir(folder)
        except OSError:
            names = []
        listed: dict[str, list[str]] = {}
        for name in names:
            if name.endswith(".dist-info"):
                listed.setdefault(_distribution(name), []).append(name)
        _listings[folder] = listed
    return _listings[folder]


_listings: dict[str, dict[str, list[str]]] = {}  # by folder, then distribution


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
    return f"Install it again, from its source or wheel: {sys.executable} -m pip install --force-reinstall PATH"
