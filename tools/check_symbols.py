"""Check that the wheels which `gpucheck setup --with` combines find all functions of NVIDIA's libraries; write tools/pairs.json.

    python tools/check_symbols.py [--cache DIR]

For each combination on Linux x86_64 in which two frameworks use the GPU, uv resolves the printed packages, and every library in
the resolved wheels is read (``wheel_symbols``): each function that one uses must be in another. Needs the network, uv and
binutils, and downloads about 15 GB, one library at a time; --cache keeps what was read, not the wheels. Exit code 1 if a
combination can't be resolved, or a linked function is missing. Tests do not run this script, but compare the solver's answers
with pairs.json.

PyTorch's own index is replaced by PyPI: torch 2.7.1 is built with CUDA 12.6, and the packages that newer builds for 12.6 pin are
listed in STANDS_FOR.
"""

import argparse
import functools
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator

from packaging.utils import canonicalize_name
from wheel_index import SECONDS, Remote, Wheel, index
from wheel_symbols import Symbols, missing, read

from gpucheck.commands.setup import describe
from gpucheck.commands.setup.combined_frameworks import solve_together
from gpucheck.core.solver import commands
from gpucheck.core.solver.answer import Choice
from gpucheck.core.solver.machine import Requirements

TARGET = pathlib.Path(__file__).with_name("pairs.json")
FRAMEWORKS = re.compile(r"tensorflow|torch|jax-cuda\d+-(?:plugin|pjrt)")
# PyTorch's index -> its packages on PyPI, and a torch that is also read (its own pins are older).
STANDS_FOR = {
    "cu126": (
        (  # of torch 2.13.0+cu126
            *("nvidia-cublas-cu12==12.6.4.1", "nvidia-cuda-cupti-cu12==12.6.80", "nvidia-cuda-nvrtc-cu12==12.6.77"),
            *("nvidia-cuda-runtime-cu12==12.6.77", "nvidia-cudnn-cu12==9.10.2.21", "nvidia-cufft-cu12==11.3.0.4"),
            *("nvidia-cusolver-cu12==11.7.1.2", "nvidia-cusparse-cu12==12.5.4.2", "nvidia-cusparselt-cu12==0.7.1"),
            *("nvidia-nccl-cu12==2.29.3", "nvidia-nvjitlink-cu12==12.6.85", "nvidia-nvshmem-cu12==3.4.5"),
            *("nvidia-curand-cu12==10.3.7.77", "nvidia-cufile-cu12==1.11.1.6"),
        ),
        "torch==2.7.1",
    ),
    "cu128": (("torch==2.10.0",), None),
    "cu130": (("torch==2.14.1",), None),
}


def pairs() -> dict[str, Choice]:
    """Return each supported combination of two frameworks on the GPU, by its packages, with one answer for it."""
    found: dict[str, Choice] = {}
    described = itertools.product(("5.2", "6.1", "8.0", "9.0", "12.0"), ("525.60", "570.86", "590.44"), ("2.27", "2.35"))
    for gpu, driver, glibc in described:
        machine = describe.machine(f"gpu={gpu}, driver {driver}, glibc {glibc}, Python 3.12, x86_64")
        for others in (("jax",), ("torch",), ("jax", "torch")):
            for wanted in (None, "==2.21.*"):
                best = solve_together(machine, Requirements(tensorflow=wanted), others).best
                if best is not None and (best.cuda is not None) + sum("CUDA" in title for title in best.also) > 1:
                    found.setdefault(name(best), best)
    return dict(sorted(found.items()))


def name(choice: Choice) -> str:
    """Return 'torch (cu126), tensorflow[and-cuda]==2.20.0, jax[cuda12]', without CPU builds, which share nothing."""
    parts = []
    for packages, url in commands.installs(choice):
        of = f" ({url.rpartition('/')[2]})" if url else ""
        parts += [f"{package}{of}" for package in packages if not package.startswith("-") and of != " (cpu)"]
    return ", ".join(parts)


def resolve(pair: str, python: str) -> list[str]:
    """Return 'name==version' of all packages. Raises LookupError with uv's reason."""
    wanted, beside = list[str](), list[str]()
    for part in pair.split(", "):
        package, _, url = part.partition(" (")
        packages, torch = STANDS_FOR[url.rstrip(")")] if url else ((package,), None)
        wanted += packages
        beside += [torch] if torch else []
    argv = ["uv", "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate", "--no-config", "--only-binary=:all:"]
    argv += ["--python-version", python, "--python-platform", "x86_64-manylinux_2_28"]
    argv += ["--default-index", "https://pypi.org/simple"]
    done = subprocess.run(argv, input="\n".join(wanted), capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        raise LookupError(" ".join(done.stderr.split()))
    return [*done.stdout.split("\n")[:-1], *beside]


@functools.cache
def wheels(project: str) -> list[Wheel]:
    """Return the wheels of a project."""
    return index(project)


def wheel(package: str, python: str) -> Wheel:
    """Return the wheel of 'name==version' for Linux x86_64; TensorFlow's libraries are the same for each Python."""
    project, _, version = package.partition(" ")[0].partition("==")
    python = "3.12" if project == "tensorflow" else python
    return next(
        wheel
        for wheel in wheels(project)
        if str(wheel.version) == version
        and ("linux" in wheel.platform and "x86_64" in wheel.platform)
        and wheel.python in ("any", python)
        and not re.search(r"-cp\d+t-", wheel.platform)
    )


def symbols(found: Wheel, cache: pathlib.Path) -> Symbols:
    """Return the symbols of all libraries in a wheel, from the cache if it was read before."""
    kept = cache / f"{found.sha256}.json"
    if not kept.exists():
        parts, remote = [], Remote(found.url)
        with zipfile.ZipFile(remote) as archive:
            remote.ahead = 16 << 20
            for member in archive.infolist():
                if re.search(r"\.so(\.\d+)*$", member.filename) and member.file_size:
                    with tempfile.NamedTemporaryFile() as file, archive.open(member) as source:
                        shutil.copyfileobj(source, file, 1 << 20)
                        file.flush()
                        parts.append(read(file.name))
        joined = [sorted(set[str]().union(*(part[place] for part in parts))) for place in range(3)]
        kept.write_text(json.dumps(joined), encoding="utf-8")
    return Symbols(*map(frozenset, json.loads(kept.read_text(encoding="utf-8"))))


def check(pair: str, python: str, cache: pathlib.Path) -> dict[str, object]:
    """Return the entry of a combination: its resolved packages, and how many functions are used and missing."""
    resolved = resolve(pair, python)
    nvidia = [package for package in resolved if package.startswith("nvidia-")]
    frameworks = [package for package in resolved if FRAMEWORKS.match(canonicalize_name(package.partition("==")[0]))]
    libraries = [symbols(wheel(package, python), cache) for package in nvidia]
    users = [symbols(wheel(package, python), cache) for package in frameworks if not package.startswith("tensorflow-cpu")]
    provided = frozenset[str]().union(*(part.provides for part in libraries))
    linked = frozenset[str]().union(*(part.linked - own(part) for part in (*users, *libraries)))
    called = frozenset[str]().union(*(part.called for part in users))
    return {
        "pair": pair,
        "python": python,
        "resolved": [*frameworks, *nvidia],
        "linked": len(linked),
        "missing": missing(linked, provided),
        "called": len(called),
        "absent": missing(called, provided),
    }


def own(part: Symbols) -> frozenset[str]:
    """Return what a wheel's libraries use of each other: for TensorFlow, the stubs in libtensorflow_framework."""
    return part.linked.difference(missing(part.linked, part.provides))


def entries(cache: pathlib.Path) -> Iterator[dict[str, object]]:
    """Yield the entry of each combination, for each Python that changes which JAX it resolves to."""
    every = pairs()
    for python in ("3.12", "3.11", "3.10"):
        for pair in every:
            if python == "3.12" or ("jax" in pair and not ("cuda13" in pair and python == "3.10")):
                yield check(pair, python, cache)


def main() -> int:
    """Check all, print a line for each, write the file; return 1 if a linked function is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()
    done = []
    with tempfile.TemporaryDirectory() as folder:
        cache = options.cache or pathlib.Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        for entry in entries(cache):
            done.append(entry)
            print(f"{entry['pair']}, Python {entry['python']}:", end=" ")
            print(
                f"linked {entry['linked']}, missing {entry['missing']}; called {entry['called']}, absent {entry['absent']}",
                flush=True,
            )
            TARGET.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in done) + "\n]\n", encoding="utf-8")
    return int(any(entry["missing"] for entry in done))


if __name__ == "__main__":
    sys.exit(main())
