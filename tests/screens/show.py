"""Show one screen in this terminal: python show.py NAME, in an empty folder. Reports are recorded, commands are real."""

# ruff: noqa: E402 - sys.path is set before the imports
import json
import pathlib
import shutil
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS), str(TESTS.parent / "tools")]

from fleet_reports import write
from golden import outputs

from gpucheck.cli.group import start
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.engine.recorded import replay

SECONDS_IN_A_HANG = 14.0


def replayed(report: bytes) -> None:
    """The terminal report of a recorded machine."""
    outputs.deliver(outputs.narrowed(replay(report)))


def gpucheck(*args: str) -> None:
    """The command itself."""
    sys.argv = ["gpucheck", *args]
    start(TimeLimit(time.monotonic()))


def no_gpu() -> None:
    """A laptop without --allow-cpu."""
    held = json.loads(outputs.recorded("laptop-cpu"))
    held["facts"]["request"]["allow_cpu"] = False
    replayed(json.dumps(held).encode())


def two_causes() -> None:
    """A GPU with broken memory, and a library that TensorFlow does not find."""
    held = json.loads(outputs.recorded("cuda-libraries-unreachable"))
    other = json.loads(outputs.recorded("ecc-errors"))
    held["facts"]["gpus"] = other["facts"]["gpus"]
    replayed(json.dumps(held).encode())


def hang() -> None:
    """The progress line while the driver does not respond, then the report."""
    from gpucheck.core.model import Request
    from gpucheck.core.model.progress import Activity
    from gpucheck.core.reports.shared.progress_line import ProgressLine

    now = [0.0]
    progress = ProgressLine(Request(), sys.stderr, clock=lambda: now[0], width=lambda: shutil.get_terminal_size().columns)
    for now[0] in (1.0, SECONDS_IN_A_HANG):
        progress.update(["driver"], [Activity("nvml", "init")])
    print()
    replayed(outputs.recorded("driver-unresponsive"))


def full() -> None:
    """A report of --full measured on two cores."""
    replayed((pathlib.Path(__file__).parent / "full.json").read_bytes())


def bench() -> None:
    """Invented figures of two GPUs."""
    from bench.cases import one, result

    from gpucheck.cli.screen import display_options, show
    from gpucheck.commands.bench import report

    show(report.render(result([one(), one(2), one(batch=128), one(2, batch=128)]), "terminal", **display_options("auto")))


def lint() -> None:
    """Two mistakes in a script."""
    shutil.copy(TESTS / "screens" / "train.py.txt", "train.py")
    gpucheck("lint")


def fleet() -> None:
    """A cluster with a dozen broken nodes."""
    from reports.cases import CASES

    from gpucheck.core.reports import json as json_report

    pathlib.Path("reports").mkdir()
    write(json.loads(json_report.render(CASES["pass-8-gpus"]())), pathlib.Path("reports"), 40, faults=True)
    gpucheck("fleet", "merge", "reports")


SCREENS = {
    "pass": lambda: replayed(outputs.recorded("h200")),
    "fail": lambda: replayed(outputs.recorded("cuda-libraries-unreachable")),
    "two-causes": two_causes,
    "no-gpu": no_gpu,
    "hang": hang,
    "full": full,
    "bench": bench,
    "lint": lint,
    "fleet": fleet,
}

if __name__ == "__main__":
    SCREENS[sys.argv[1]]()
