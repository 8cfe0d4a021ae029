"""Compare the tables of gpucheck/core/compat with PyPI.

    python tools/check_releases.py                      print differences; for a release missing from the table, print its entry
    python tools/check_releases.py --install [MINOR...] check that uv can resolve the answers of `gpucheck setup`

The first reads file names and METADATA of TensorFlow's wheels (a few hundred KB of each), and the newest JAX and PyTorch. The
second installs nothing and takes minutes. Exit code 1 if anything differs or can't be installed. Tests do not run this script,
because it needs the network. ``tools/read_wheels.py`` reads the GPU code.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from wheel_index import SECONDS, Wheel, index, metadata

from gpucheck.core.compat import frameworks, tensorflow, tpu, versions
from gpucheck.core.compat.tensorflow import CANDIDATE, RELEASES, Release
from gpucheck.core.solver.machine import Gpu, Machine, Python, Requirements
from gpucheck.core.solver.solve import best

PLATFORMS = {
    ("linux", "x86_64"): ("manylinux", "x86_64"),
    ("linux", "aarch64"): ("manylinux", "aarch64"),
    ("win32", "x86_64"): ("win_amd64", "win_amd64"),
    ("darwin", "x86_64"): ("macosx", "x86_64"),
    ("darwin", "arm64"): ("macosx", "arm64"),
}


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
        if has != tensorflow.has_wheels(release, *platform):
            yield f"wheels for {' '.join(platform)}: {has}, but the table says otherwise"
    yield from _requirements(release, linux[-1])


def _is_for(wheel: Wheel, platform: tuple[str, str]) -> bool:
    return all(part in wheel.platform for part in PLATFORMS[platform])


def _requirements(release: Release, wheel: Wheel) -> Iterator[str]:
    fields = metadata(wheel)
    needs = [Requirement(text) for text in fields.get_all("Requires-Dist", ())]
    plain = {need.name.lower(): need.specifier for need in needs if not _extra(need)}
    if release.python_min not in SpecifierSet(fields["Requires-Python"]):
        yield f"python_min {release.python_min}, METADATA says {fields['Requires-Python']}"
    for name in ("keras", "numpy", "protobuf"):
        table = SpecifierSet(getattr(release, name))
        if plain.get(name) != table and not (name == "numpy" and _marked(needs, name)):
            yield f"{name} {table}, METADATA says {plain.get(name)}"
    with_cuda = {f"{need.name}{need.specifier}" for need in needs if 'extra == "and-cuda"' in _extra(need)}
    table = {str(Requirement(text)) for text in release.and_cuda}
    if with_cuda != table:
        yield f"and_cuda lacks {sorted(with_cuda - table)}, and has {sorted(table - with_cuda)} in excess"


def _extra(need: Requirement) -> str:
    return str(need.marker) if need.marker is not None and "extra" in str(need.marker) else ""


def _marked(needs: list[Requirement], name: str) -> bool:
    """Whether a package has a range for each Python; the table then has the widest one."""
    return sum(need.name.lower() == name for need in needs) > 1


def news(every: list[Wheel]) -> Iterator[str]:
    """Yield the releases that the table lacks, with their entries."""
    oldest = versions.parse(next(iter(RELEASES)))
    for version in sorted({wheel.version for wheel in every}):
        minor = ".".join(map(str, version.release[:2]))
        if minor in RELEASES or version.release[:2] < oldest or str(version) == CANDIDATE.latest_patch:
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


def uninstallable(minors: list[str]) -> Iterator[str]:
    """Yield the answers of ``gpucheck setup`` for a GPU, and whether PyPI can satisfy each."""
    for release in (RELEASES[minor] for minor in minors):
        for number in range(versions.parse(release.python_min)[1], versions.parse(release.python_max)[1] + 1):
            machine = Machine(gpus=(Gpu(),), pythons=(Python(version=f"3.{number}"),))
            choice = best(machine, Requirements(tensorflow=f"=={release.latest_patch}"))
            if choice is not None:
                yield f"{release.latest_patch}, Python 3.{number}: {_problem(choice.packages, f'3.{number}') or 'ok'}"


def _problem(packages: tuple[str, ...], python: str) -> str | None:
    argv = ["uv", "pip", "compile", "-", "--quiet", "--python-version", python, "--python-platform", "x86_64-manylinux_2_28"]
    done = subprocess.run(argv, input="\n".join(packages), capture_output=True, text=True, timeout=SECONDS, check=False)
    return None if done.returncode == 0 else " ".join(done.stderr.split())


def main() -> int:
    """Compare and print; return 1 if anything differs, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", nargs="*", metavar="MINOR", choices=RELEASES)
    options = parser.parse_args()
    if options.install is not None:
        good = True
        for line in uninstallable(options.install or list(RELEASES)):
            print(line, flush=True)
            good = good and line.endswith(": ok")
        return int(not good)
    every = index("tensorflow")
    lines = [f"{release.minor}: {line}" for release in RELEASES.values() for line in differences(release, every)]
    lines += [*news(every), *others()]
    print(*(lines or [f"as in the index: {', '.join(RELEASES)} ({tensorflow.LATEST} is the newest)"]), sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
