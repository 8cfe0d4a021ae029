"""Misbehaving children: each fault, in each place that runs third-party code."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

from chaos.run import Cell, Unavailable, root_only
from lab import fake_driver

FAULTS = (
    *("raises", "hangs", "ignores signals", "segfaults", "is OOM-killed", "floods stdout", "floods stderr"),
    *("leaves a child", "forges", "closes its pipes", "fills the disk"),
)
IMPORTED = "import ctypes, os\nctypes.CDLL(os.environ['CHAOS_LIBRARY'])\nraise ImportError('no more of it')\n"
# After these faults the code continues: an invalid driver library is not a fault without a GPU.
CODE_CONTINUES = ("floods stdout", "floods stderr", "leaves a child", "fills the disk")
# Place -> arguments, and whether a report that says "healthy" would be wrong.
PLACES = {
    "nvml": (("--quick",), True),
    "cuda": (("--quick",), True),
    "tensorflow": (("--no-smoke",), True),
    "jax": (("--no-smoke", "--backend", "jax"), True),
    "nvidia-smi": (("--quick",), False),
    "dmesg": (("--no-smoke",), False),
    "python": (("--no-smoke",), True),
}
GROUPS = pathlib.Path("/sys/fs/cgroup")
MEMORY_BYTES = 400 << 20


def built(folder: pathlib.Path) -> pathlib.Path:
    """The compiled faults, as a library and as a program."""
    if fake_driver.COMPILER is None or sys.platform != "linux":
        raise Unavailable("no C compiler, or not Linux")
    source = pathlib.Path(__file__).parent / "chaos.c"
    for name, flags in (("library", ("-shared", "-fPIC")), ("program", ())):
        subprocess.run([fake_driver.COMPILER, *flags, "-o", folder / name, source], check=True)
    return folder


def prepare(cell: Cell, parts: pathlib.Path, place: str, fault: str) -> None:
    """Install the fault in its place."""
    here = cell.folder / "place"
    here.mkdir()
    args, cell.wrong_if_healthy = PLACES[place]
    cell.args = [*args, "--allow-cpu", "--timeout", str(cell.limit), "--format", "json"]
    cell.env.update(CHAOS_FAULT=fault, CHAOS_LIBRARY=str(parts / "library"))
    if place in ("nvml", "cuda"):
        cell.wrong_if_healthy = fault not in CODE_CONTINUES
        shutil.copy(parts / "library", here / fake_driver.DRIVER[place][0])
        cell.env["LD_LIBRARY_PATH"] = str(here)
    elif place in ("tensorflow", "jax"):
        for name in {place, "keras"}:
            (here / f"{name}.py").write_text("raise RuntimeError('chaos')\n" if fault == "raises" else IMPORTED)
        cell.env["PYTHONPATH"] = f"{here}:{cell.env['PYTHONPATH']}"
    elif place == "python":
        cell.args += ["--python", str(parts / "program")]
    else:
        shutil.copy(parts / "program", here / place)
        cell.env["PATH"] = f"{here}:{cell.env['PATH']}"
    if fault == "fills the disk":
        root_only()
        cell.shell += f"mount -t tmpfs -o size=1m chaos {cell.env['TMPDIR']}; "
    if fault == "is OOM-killed":
        cell.shell += f"echo $$ > {cell.stack.enter_context(memory_group(cell.folder.name))}/cgroup.procs; "


@contextlib.contextmanager
def memory_group(name: str):
    """A control group with a limit on memory, of version 1 or 2."""
    root_only()
    old = (GROUPS / "memory/memory.limit_in_bytes").exists()
    group = GROUPS / ("memory" if old else ".") / f"chaos-{os.getpid()}-{name}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(MEMORY_BYTES))
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        raise Unavailable(f"no control group with a limit on memory can be made: {error.strerror}") from None
    try:
        yield group
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()
