"""Print the table of gpucheck/core/compat/downloads.py: the download size and disk space of the answers of `gpucheck setup`.

    python tools/download_sizes.py

uv resolves each answer for Linux on x86_64. The package index has the size of each wheel, and the wheel's table of contents has
the size of its files, so only a few KB of the wheel are read. Nothing is installed. Needs the network, and takes minutes.
"""

import concurrent.futures
import functools
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse
import zipfile
from collections.abc import Iterator

import tomllib
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename
from wheel_index import SECONDS, Remote

from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.compat import versions
from gpucheck.core.compat.downloads import name
from gpucheck.core.compat.tensorflow import RELEASES
from gpucheck.core.solver.answer import Choice
from gpucheck.core.solver.machine import Gpu, Machine, Python, Requirements

PLATFORM = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)]
PLATFORM += [f"{name}_x86_64" for name in ("manylinux2014", "manylinux2010", "manylinux1", "linux")]


def choices() -> Iterator[Choice]:
    """Yield the answers for the CPU and for a GPU."""
    for gpus in ((), (Gpu(),)):
        for minor, release in RELEASES.items():
            machine = Machine(gpus=gpus, pythons=(Python(version=release.python_max),))
            yield from solve(machine, Requirements(tensorflow=f"=={minor}.*")).choices
        yield from solve(Machine(gpus=gpus, pythons=(Python(version="3.13"),)), Requirements(backend="jax")).choices


def wheels(choice: Choice) -> Iterator[tuple[str, int]]:
    """Yield the URL of each wheel that a choice installs, and its size in bytes."""
    python = versions.minor(choice.python.version)
    with tempfile.TemporaryDirectory() as folder:
        lock = pathlib.Path(folder, "pylock.toml")
        argv = ["uv", "pip", "compile", "-", "--quiet", "--only-binary", ":all:", "--format", "pylock.toml", "-o", str(lock)]
        argv += ["--python-version", python, "--python-platform", "x86_64-manylinux_2_28"]
        subprocess.run(argv, input="\n".join(choice.packages), text=True, check=True, stdout=-1, timeout=10 * SECONDS)
        packages = tomllib.loads(lock.read_text())["packages"]
    version = versions.parse(python)
    tags = [*cpython_tags(version, platforms=PLATFORM), *compatible_tags(version, "cp", PLATFORM)]
    for package in packages:
        rank = {}
        for wheel in package["wheels"]:
            own = parse_wheel_filename(urllib.parse.unquote(wheel["url"].rpartition("/")[2]))[3]
            for place in (place for place, tag in enumerate(tags) if tag in own):
                rank.setdefault(place, wheel)
        best = rank[min(rank)]
        yield best["url"], best["size"]


@functools.cache
def unpacked(url: str) -> int:
    """Return the size of a wheel's files in bytes."""
    with zipfile.ZipFile(Remote(url)) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def main() -> int:
    """Print the table."""
    for choice in choices():
        files = list(wheels(choice))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            disk = sum(pool.map(unpacked, [url for url, _ in files]))
        download = sum(size for _, size in files)
        key = name(choice.packages, choice.cuda)
        print(f'    "{key}": Size({download / 1e6:.0f}, {disk / 1e6:.0f}),', flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
