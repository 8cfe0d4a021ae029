"""Compare the tables of gpucheck/core/compat with PyPI.

    python tools/check_releases.py                      print differences; for a release that the table lacks, print its entry
    python tools/check_releases.py --install [MINOR...] check that uv can resolve the answers of `gpucheck setup`
    python tools/check_releases.py --kernels MINOR...   print the GPU code in these wheels

The first reads file names and METADATA of TensorFlow's wheels (a few hundred KB of each), and the newest JAX and PyTorch. The
second installs nothing and takes minutes. The third reads 500 MB for each wheel. Exit code 1 if anything differs or can't be
installed. Tests do not run this script, because it needs the network.
"""

import argparse
import collections
import io
import json
import struct
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from gpucheck.core.compat import frameworks, tensorflow, tpu, versions, wheels
from gpucheck.core.compat.tensorflow import RELEASES, Release
from gpucheck.core.solver.machine import Gpu, Machine, Python, Wishes
from gpucheck.core.solver.solve import best

INDEX = "https://pypi.org/simple/{}/"
JSON = "application/vnd.pypi.simple.v1+json"
SECONDS = 120.0
PLATFORMS = {
    ("linux", "x86_64"): ("manylinux", "x86_64"),
    ("linux", "aarch64"): ("manylinux", "aarch64"),
    ("win32", "x86_64"): ("win_amd64", "win_amd64"),
    ("darwin", "x86_64"): ("macosx", "x86_64"),
    ("darwin", "arm64"): ("macosx", "arm64"),
}
LIBRARIES = ("libtensorflow_cc.so.2", "_pywrap_tensorflow_internal.so")
FATBIN = struct.pack("<I", 0xBA55ED50)
FATBIN_MAX = 64 << 20
PIECE = 8 << 20


class Wheel(NamedTuple):
    """One wheel on PyPI."""

    version: Version
    python: str  # "3.12"
    platform: str
    url: str
    requires_python: str


def get(url: str, **headers: str) -> bytes:
    """Return the content of a URL, or a part of it."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SECONDS) as answer:  # noqa: S310 - https
        return bytes(answer.read())


def index(project: str) -> list[Wheel]:
    """Return the wheels of a project that are not yanked."""
    kept = []
    for file in json.loads(get(INDEX.format(project), Accept=JSON))["files"]:
        if file["filename"].endswith(".whl") and not file.get("yanked"):
            try:
                _, version, _, tags = parse_wheel_filename(file["filename"])
            except ValueError:
                continue
            tag = next(iter(tags))
            python = f"{tag.interpreter[2]}.{tag.interpreter[3:]}" if tag.interpreter.startswith("cp") else "any"
            kept.append(Wheel(version, python, file["filename"], file["url"], file.get("requires-python") or ""))
    return kept


class Remote(io.RawIOBase):
    """A file on a server, read in parts."""

    def __init__(self, url: str) -> None:
        """Query the size of the file, without reading it."""
        request = urllib.request.Request(url, method="HEAD")  # noqa: S310 - https
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310 - https
            self._size = int(answer.headers["Content-Length"])
        self._url, self._place, self._start, self._held, self.ahead = url, 0, 0, b"", 1 << 16

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set the position."""
        self._place = offset + (0, self._place, self._size)[whence]
        return self._place

    def tell(self) -> int:
        """Return the position."""
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Read a part, and read ahead."""
        size = min(size if size >= 0 else self._size, self._size - self._place)
        if size <= 0:
            return b""
        if not self._start <= self._place <= self._place + size <= self._start + len(self._held):
            end = min(self._size, self._place + max(size, self.ahead)) - 1
            self._held, self._start = get(self._url, Range=f"bytes={self._place}-{end}"), self._place
        offset = self._place - self._start
        self._place += size
        return self._held[offset : offset + size]


def metadata(wheel: Wheel) -> Any:
    """Return a wheel's METADATA without downloading the rest."""
    with zipfile.ZipFile(Remote(wheel.url)) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def differences(release: Release, every: list[Wheel]) -> Iterator[str]:
    """Yield the differences between PyPI and the table."""
    patches = {
        wheel.version
        for wheel in every
        if wheel.version.release[:2] == versions.parse(release.minor) and not wheel.version.is_prerelease
    }
    newest = max(patches)
    if str(newest) != release.latest_patch:
        yield f"latest_patch {release.latest_patch}, the index has {newest}"
    ours = [wheel for wheel in every if str(wheel.version) == release.latest_patch]
    if not ours:
        return
    linux = [wheel for wheel in ours if _is_for(wheel, ("linux", "x86_64"))]
    pythons = sorted({wheel.python for wheel in linux}, key=versions.parse)
    if [pythons[0], pythons[-1]] != [release.python_min, release.python_max]:
        yield f"python {release.python_min} to {release.python_max}, the wheels are for {', '.join(pythons)}"
    glibc = {
        part
        for wheel in linux
        for part in ("2.17", "2.27", "2.28", "2.31")
        if f"manylinux_{part.replace('.', '_')}" in wheel.platform
    }
    if glibc != {release.glibc_floor}:
        yield f"glibc_floor {release.glibc_floor}, the wheels say {', '.join(sorted(glibc))}"
    for platform in PLATFORMS:
        has = any(_is_for(wheel, platform) for wheel in ours)
        if has != wheels.has_wheels(release, *platform):
            yield f"wheels for {' '.join(platform)}: {has}, and the table says otherwise"
    yield from _requirements(release, linux[-1])


def _is_for(wheel: Wheel, platform: tuple[str, str]) -> bool:
    return all(part in wheel.platform for part in PLATFORMS[platform])


def _requirements(release: Release, wheel: Wheel) -> Iterator[str]:
    fields = metadata(wheel)
    needs = [Requirement(text) for text in fields.get_all("Requires-Dist", ())]
    plain = {need.name.lower(): need.specifier for need in needs if not _extra(need)}
    if SpecifierSet(fields["Requires-Python"]) != SpecifierSet(release.requires_python):
        yield f"requires_python {release.requires_python}, METADATA says {fields['Requires-Python']}"
    for name in ("keras", "numpy", "protobuf"):
        table = SpecifierSet(getattr(release, name))
        if plain.get(name) != table and not (name == "numpy" and _marked(needs, name)):
            yield f"{name} {table}, METADATA says {plain.get(name)}"
    with_cuda = {f"{need.name}{need.specifier}" for need in needs if 'extra == "and-cuda"' in _extra(need)}
    table = {str(Requirement(text)) for text in release.and_cuda}
    if with_cuda != table:
        yield f"and_cuda lacks {sorted(with_cuda - table)}, and has {sorted(table - with_cuda)} too many"


def _extra(need: Requirement) -> str:
    return str(need.marker) if need.marker is not None and "extra" in str(need.marker) else ""


def _marked(needs: list[Requirement], name: str) -> bool:
    """Return whether a package has a range for each Python; the table then has the widest one."""
    return sum(need.name.lower() == name for need in needs) > 1


def news(every: list[Wheel]) -> Iterator[str]:
    """Yield the releases that the table lacks, with their entries."""
    oldest = versions.parse(next(iter(RELEASES)))
    for version in sorted({wheel.version for wheel in every}):
        minor = ".".join(map(str, version.release[:2]))
        if minor in RELEASES or version.release[:2] < oldest:
            continue
        ours = [wheel for wheel in every if wheel.version == version and _is_for(wheel, ("linux", "x86_64"))]
        if not ours:
            continue
        fields = metadata(ours[-1])
        yield f"{version} is not in the table: Python {', '.join(sorted({wheel.python for wheel in ours}, key=versions.parse))},"
        yield f"    {ours[-1].platform}, requires-python {fields['Requires-Python']}"
        for text in fields.get_all("Requires-Dist", ()):
            if text.lower().startswith(("keras", "numpy", "protobuf")) or "and-cuda" in text:
                yield f"    {text}"


def others() -> Iterator[str]:
    """Yield where the newest JAX, PyTorch or tensorflow-tpu on PyPI differs from the table."""
    for project, listed in (
        ("jax", frameworks.JAX[0].newest),
        ("torch", frameworks.TORCH[0].newest),
        ("tensorflow-tpu", tpu.LATEST_TENSORFLOW_TPU),
    ):
        newest = max(wheel.version for wheel in index(project) if not wheel.version.is_prerelease)
        if str(newest) != listed and ".".join(map(str, newest.release[:2])) != listed:
            yield f"{project}: the table says {listed}, the index has {newest}"


def kernels(release: Release, every: list[Wheel]) -> Iterator[str]:
    """Yield the GPU code in a wheel: the number of fat binaries with each set of architectures, and their PTX versions."""
    wheel = next(wheel for wheel in every if str(wheel.version) == release.latest_patch and _is_for(wheel, ("linux", "x86_64")))
    remote = Remote(wheel.url)
    with zipfile.ZipFile(remote) as archive:
        remote.ahead = PIECE
        for name in archive.namelist():
            if name.rpartition("/")[2] in LIBRARIES:
                with archive.open(name) as library:
                    counts = collections.Counter(_codes(library))
                yield from (f"{name.rpartition('/')[2]}: {count} × {codes}" for codes, count in counts.most_common(6))


def _codes(library: Any) -> Iterator[str]:
    """Yield the architectures in each fat binary of a library: 'sm60 sm70 ptx90 (8.5)'."""
    data = b""
    while piece := library.read(PIECE):
        data += piece
        place = 0
        while (start := data.find(FATBIN, place)) >= 0 and start + 16 <= len(data):
            version, header, size = struct.unpack_from("<HHQ", data, start + 4)
            if (version, header) != (1, 16) or size > FATBIN_MAX:
                place = start + 4
                continue
            end = start + 16 + size
            if end > len(data):
                break
            yield " ".join(sorted(_entries(data, start + 16, end)))
            place = end
        data = data[start:] if start >= 0 else data[-3:]


def _entries(data: bytes, place: int, end: int) -> Iterator[str]:
    while place + 64 <= end:
        kind, _, header, size, _, _, minor, major, capability = struct.unpack_from("<HHIQIIHHI", data, place)
        if kind not in (1, 2):
            return
        yield f"ptx{capability} ({major}.{minor})" if kind == 1 else f"sm{capability}"
        place += header + size


def uninstallable(minors: list[str]) -> Iterator[str]:
    """Yield the answers of ``gpucheck setup`` for a GPU, and whether PyPI can satisfy each."""
    for release in (RELEASES[minor] for minor in minors):
        for number in range(versions.parse(release.python_min)[1], versions.parse(release.python_max)[1] + 1):
            machine = Machine(gpus=(Gpu(),), pythons=(Python(version=f"3.{number}"),))
            choice = best(machine, Wishes(tensorflow=f"=={release.latest_patch}"))
            if choice is not None:
                yield f"{release.latest_patch}, Python 3.{number}: {_problem(choice.packages, f'3.{number}') or 'ok'}"


def _problem(packages: tuple[str, ...], python: str) -> str | None:
    argv = ["uv", "pip", "compile", "-", "--quiet", "--python-version", python, "--python-platform", "x86_64-manylinux_2_28"]
    done = subprocess.run(argv, input="\n".join(packages), capture_output=True, text=True, timeout=SECONDS, check=False)
    return None if done.returncode == 0 else " ".join(done.stderr.split())


def main() -> int:
    """Compare and print; return 1 if anything differs, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", nargs="+", metavar="MINOR", choices=RELEASES, default=[])
    parser.add_argument("--install", nargs="*", metavar="MINOR", choices=RELEASES)
    options = parser.parse_args()
    minors = options.kernels
    if options.install is not None:
        good = True
        for line in uninstallable(options.install or list(RELEASES)):
            print(line, flush=True)
            good = good and line.endswith(": ok")
        return int(not good)
    every = index("tensorflow")
    if minors:
        for minor in minors:
            print(f"{minor}: table has {RELEASES[minor].cubins}, PTX {RELEASES[minor].ptx}")
            print(*(f"  {line}" for line in kernels(RELEASES[minor], every)), sep="\n")
        return 0
    lines = [f"{release.minor}: {line}" for release in RELEASES.values() for line in differences(release, every)]
    lines += [*news(every), *others()]
    print(*(lines or [f"as in the index: {', '.join(RELEASES)} ({tensorflow.LATEST} is the newest)"]), sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
