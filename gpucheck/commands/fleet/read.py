"""Find and read the reports of nodes as a stream."""

import contextlib
import errno
import itertools
import math
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gpucheck.commands.fleet.decoded import NodeReport, Report, node_of_file, node_report, shortened
from gpucheck.commands.fleet.model import Unusual
from gpucheck.core.model import SCHEMA_VERSION
from gpucheck.core.system.bounded import NoResponse, seconds_per_file, with_deadline, with_timeout
from gpucheck.core.system.read import INVALID_JSON, REPORT_BYTES_MAX, regular

CHUNK = 50  # files per thread
LISTED = 1000  # names to read from a folder at a time
SUFFIX = ".json"
SUPPORTED = SCHEMA_VERSION.partition(".")[0]
LATE = "the time limit was reached (--timeout)"


def files(paths: Iterable[str], until: float = math.inf) -> Iterator[str]:
    """Yield the given files, and the .json files in given folders, in the order of the system.

    Args:
        paths: files and folders. One that does not respond is treated as a file, so that reading it reports the problem.
        until: the deadline, in ``time.monotonic()`` seconds.

    Raises:
        OSError: a folder can't be read, or a path does not exist.
    """
    for named in _chunks(iter(paths)):
        kinds = with_deadline(until, _is_folder, named)
        for path in named:
            if kinds.get(path):
                yield from _listed(path, until)
            else:
                yield path


def _is_folder(path: str) -> bool:
    status = os.lstat(path)  # links to .json files are not followed here: the target may hang
    if stat.S_ISLNK(status.st_mode) and not path.endswith(SUFFIX):
        status = os.stat(path)
    return stat.S_ISDIR(status.st_mode)


def _listed(folder: str, until: float) -> Iterator[str]:
    try:
        # Not closed: after a timeout, the thread may still be reading it.
        entries = with_timeout(seconds_per_file(until), os.scandir, folder)
        while part := with_timeout(seconds_per_file(until), lambda: list(itertools.islice(entries, LISTED))):
            yield from (entry.path for entry in part if entry.name.endswith(SUFFIX) and not entry.name.startswith("."))
    except NoResponse:
        yield folder


def collect(paths: Iterable[str], now: float, until: float = math.inf) -> Iterator[NodeReport | Unusual]:
    """Read all files. A file that does not respond is skipped, and the others are read.

    Args:
        paths: paths of files.
        now: seconds since 1970.
        until: the deadline, in ``time.monotonic()`` seconds. The first unread file is reported.
    """
    for chunk in _chunks(iter(paths)):
        if time.monotonic() >= until:
            yield unread(chunk[0], "unreadable", f"{LATE}; this and the following files were not read")
            return
        yield from read_all(chunk, now, until)


def _chunks(paths: Iterator[str]) -> Iterator[list[str]]:
    while chunk := list(itertools.islice(paths, CHUNK)):
        yield chunk


def unread(path: str, kind: str, why: str) -> Unusual:
    """Return the problem of a file that is not a valid, complete report, under the name of the node that wrote it."""
    return Unusual(kind=kind, node=node_of_file(path), file=path, why=why)


_DECODER = msgspec.json.Decoder(Report)


def read_all(paths: Sequence[str], now: float, until: float = math.inf) -> list[NodeReport | Unusual]:
    """Read some files, and skip those that do not respond.

    Args:
        paths: the files' paths.
        now: seconds since 1970.
        until: the deadline, in ``time.monotonic()`` seconds.
    """
    opened = with_deadline(until, _prefetch, paths)
    found = with_deadline(until, lambda path: read(path, now), list(opened))
    why = LATE if time.monotonic() >= until else "did not respond"
    return [found.get(path) or unread(path, "unreadable", why) for path in paths]


def _prefetch(path: str) -> None:
    """Prefetch a file while others are decoded: disks and network file systems are faster with many concurrent requests."""
    if not hasattr(os, "posix_fadvise"):
        return
    with contextlib.suppress(OSError, ValueError):  # reading it later reports the error
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            os.posix_fadvise(opened, 0, REPORT_BYTES_MAX, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(opened)


def read(path: str, now: float) -> NodeReport | Unusual:
    """Read one file. Never raises: one bad file must not prevent the merge of the others."""
    try:
        return _read(path, now)
    except OSError as error:
        if error.errno == errno.EFBIG:
            return unread(path, "too large", f"larger than {REPORT_BYTES_MAX >> 20} MiB")
        return unread(path, "unreadable", error.strerror or str(error))
    except Exception as error:  # including a bug in gpucheck
        return unread(path, "unreadable", shortened(f"{type(error).__name__}: {error}"))


def _read(path: str, now: float) -> NodeReport | Unusual:
    data = regular(path, REPORT_BYTES_MAX)
    try:
        report = _DECODER.decode(data)
    except INVALID_JSON as error:
        return _undecoded(path, data, error)
    if report.tool.get("name") != "gpucheck":
        return unread(path, "foreign", "not written by gpucheck")
    if report.schema_version.partition(".")[0] != SUPPORTED:
        return unread(path, "another schema", f"schema {report.schema_version[:20]}, expected {SUPPORTED}.x")
    return node_report(path, report, now)


def _undecoded(path: str, data: bytes, error: Exception) -> Unusual:
    text = data.strip()
    if not text:
        return unread(path, "half-written", "empty")
    if isinstance(error, msgspec.ValidationError):
        with contextlib.suppress(*INVALID_JSON):
            version = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("schema_version", b"")
            if bytes(version).strip(b'"').partition(b".")[0] not in (b"", SUPPORTED.encode()):
                return unread(path, "another schema", f"schema {bytes(version).decode(errors='replace')[:20]}")
        return unread(path, "foreign", shortened(f"not a report: {error}"))
    if text.startswith(b"{") and b'"schema_version"' in text[:2000]:
        return unread(path, "half-written", "it is truncated, or was partly overwritten")
    return unread(path, "foreign", "not JSON")
