"""Compare gpucheck with other tools on the same faults: python tools/compare_peers.py ENV_DOCTOR_SITE_PACKAGES.

Writes docs/comparison.md. Needs TensorFlow in this environment, a C compiler for the fake driver of tests/lab, and a folder with
env-doctor (`pip install --target FOLDER env-doctor`). Every program runs in the same Python, with the same fault. A program
identifies the cause if its output contains the words that any report of that cause must contain.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from lab import fake_driver  # noqa: E402 - the folder must be on sys.path first

SECONDS = 60.0
LIST = "import tensorflow as tf; print(tf.config.list_physical_devices())"
PAGE = """\
# Compared with other tools

Each program checked the same faults, in the same Python. The seven faults come from our own tests, so they favor gpucheck; the
other tools were made for other faults too. A cause counts as named if the output has the words that any report of it must have.
Made by `tools/compare_peers.py` with {versions}.

| fault | {programs} |
| --- |{rules}
{rows}
The driver faults use a fake driver, compiled from `tests/lab/driver`. `tests/lab` has two hundred more faults, for gpucheck
alone. "Not after {seconds:.0f} s" means that the program was ended after that time.
"""


class Fault(NamedTuple):
    """A fault, and the words that an output must contain to identify its cause."""

    name: str
    words: str
    breaks: Callable[[pathlib.Path], Mapping[str, str]]


def driver(**lines: str) -> Callable[[pathlib.Path], Mapping[str, str]]:
    """Return a function that builds a fake driver with these answers."""

    def broken(folder: pathlib.Path) -> Mapping[str, str]:
        built = fake_driver.build(folder / "driver")
        return {
            **fake_driver.environment(built, fake_driver.write_scenario(folder / "scenario", lines)),
            "PATH": os.environ["PATH"],
        }

    return broken


def hidden(name: str) -> Callable[[pathlib.Path], Mapping[str, str]]:
    """Return a function that writes a file which hides a module."""

    def broken(folder: pathlib.Path) -> Mapping[str, str]:
        path = folder / "own" / name
        path.parent.mkdir(parents=True)
        path.write_text("")
        return {"PYTHONPATH": str(folder / "own")}

    return broken


FAULTS = (
    Fault("No NVIDIA GPU in the machine", r"(?i)no nvidia (gpu|driver)|no gpu|could not find cuda drivers", lambda folder: {}),
    Fault("`tensorflow.py` in the user's folder hides TensorFlow", r"own/tensorflow\.py", hidden("tensorflow.py")),
    Fault("A folder `keras` on PYTHONPATH hides Keras", r"own/keras", hidden("keras/__init__.py")),
    Fault("A folder `google` hides protobuf", r"own/google", hidden("google/__init__.py")),
    Fault(
        "The driver does not respond",
        r"(?i)does not (answer|respond)|no answer|timed out",
        driver(nvmlInit_v2="hang", cuInit="hang"),
    ),
    Fault("Driver and libraries of different versions", r"(?i)mismatch|differ", driver(nvmlInit_v2="18", cuInit="803")),
    Fault("No permission for the device files", r"(?i)permission", driver(nvmlInit_v2="4", cuInit="100")),
)


def outcome(argv: list[str], folder: pathlib.Path, env: Mapping[str, str], words: str) -> str:
    """Run the program; return "**named**", "not named" or the time limit it exceeded."""
    try:
        done = subprocess.run(
            argv, cwd=folder, env={**env}, capture_output=True, text=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return f"not after {SECONDS:.0f} s"
    return "**named**" if re.search(words, done.stdout + done.stderr) else "not named"


def main() -> None:
    """Inject each fault, run every program, write the page."""
    peer = str(pathlib.Path(sys.argv[1]).resolve())
    programs = {
        "gpucheck --quick": ([sys.executable, "-m", "gpucheck", "--quick"], str(ROOT)),
        "env-doctor check": ([sys.executable, "-c", "from env_doctor.cli import main; main()", "check"], peer),
        "TensorFlow's device list": ([sys.executable, "-c", LIST], ""),
    }
    rows = ""
    for fault in FAULTS:
        with tempfile.TemporaryDirectory(prefix="gpucheck-peers-") as name:
            folder = pathlib.Path(name)
            changes = dict(fault.breaks(folder))
            cells = []
            for argv, own in programs.values():
                paths = [path for path in (changes.get("PYTHONPATH"), own) if path]
                env = {"PATH": os.environ["PATH"], "HOME": str(folder), **changes, "PYTHONPATH": os.pathsep.join(paths)}
                cells.append(outcome(argv, folder, env, fault.words))
            rows += f"| {fault.name} | {' | '.join(cells)} |\n"
            print(rows.splitlines()[-1], flush=True)
    listed = next(pathlib.Path(peer).glob("env_doctor-*.dist-info")).name.split("-")[1].removesuffix(".dist")
    own, tensorflow = version("keras-gpucheck"), version("tensorflow")
    versions = f"gpucheck {own}, env-doctor {listed} and TensorFlow {tensorflow}, on a machine without a GPU"
    page = PAGE.format(
        versions=versions, programs=" | ".join(programs), rules=" --- |" * len(programs), rows=rows, seconds=SECONDS
    )
    (ROOT / "docs" / "comparison.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
