"""Check gpucheck's cost limits, as ratios measured side by side on this machine.

    python benchmarks/run.py [--repeats N] [quick|whole|step|devices|log]...

quick: ``gpucheck --quick --allow-cpu`` compared with ``python -c "import click, psutil, pynvml"``: at most 2.0.
whole: ``gpucheck --allow-cpu`` compared with ``plain_training.py``: at most 1.15.
step: the step that ``gpucheck --strategy one_device --allow-cpu`` reports compared with that of ``plain_steps.py``: at most 1.05.
devices: eight logical devices, each trained, compared with one: the whole run, and its training alone, at most 2.5.
log: ``gpucheck explain`` of 64 MB of a normal training log compared with ``plain_reading.py``: at most 3.0.

The two commands of a pair alternate, after one unmeasured run of each. The output has the ratio of the medians and the ratio of
the minima, which other load on the machine affects less. Exit code 1 if both exceed the limit: a slower command also has a
slower best run, while the median of a few runs varies by a few percent on a shared machine.
"""

import argparse
import atexit
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
GPUCHECK = str(pathlib.Path(sys.executable).parent / "gpucheck")
ONE_DEVICE = [GPUCHECK, "--strategy", "one_device", "--allow-cpu", "--format", "json"]
LOG = str(pathlib.Path(tempfile.gettempdir()) / f"gpucheck-ordinary-{os.getpid()}.log")
PLAIN_READING = [sys.executable, str(HERE / "plain_reading.py"), LOG]


class Done(NamedTuple):
    """The duration and output of a command that succeeded."""

    seconds: float
    output: bytes


class Figure(NamedTuple):
    """The figure that is compared between two commands, and its limit."""

    name: str
    ours: Callable[[Done], float]
    theirs: Callable[[Done], float]
    promise: float  # the maximum ratio


class Pair(NamedTuple):
    """Two commands to compare."""

    ours: list[str]
    theirs: list[str]
    repeats: int
    figures: tuple[Figure, ...]


def wall(done):
    return done.seconds


def reported_step(done):
    (step,) = (run["step_seconds"] for run in json.loads(done.output)["training"] if run["status"] == "passed")
    return step


def printed(done):
    return float(done.output.split()[-1])


def training(done):
    """Return the seconds from the end of the imports to the end of the training. All probes start at the same time."""
    ended = {probe["name"]: probe["seconds"] for probe in json.loads(done.output)["probes"]}
    return ended["training"] - ended["keras"]


PAIRS = {
    "quick": Pair(
        [GPUCHECK, "--quick", "--allow-cpu"],
        [sys.executable, "-c", "import click, psutil, pynvml"],
        15,
        (Figure("whole run", wall, wall, 2.0),),
    ),
    "whole": Pair(
        [GPUCHECK, "--allow-cpu"],
        [sys.executable, str(HERE / "plain_training.py")],
        5,
        (Figure("whole run", wall, wall, 1.15),),
    ),
    "step": Pair(
        ONE_DEVICE,
        [sys.executable, str(HERE / "plain_steps.py")],
        15,
        (Figure("median step", reported_step, printed, 1.05),),
    ),
    "devices": Pair(
        [*ONE_DEVICE, "--logical-devices", "8"],
        [*ONE_DEVICE, "--logical-devices", "1"],
        5,
        (Figure("whole run", wall, wall, 2.5), Figure("training", training, training, 2.5)),
    ),
    "log": Pair([GPUCHECK, "explain", LOG], PLAIN_READING, 5, (Figure("64 MB", wall, wall, 3.0),)),
}


def run(command):
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, env={**os.environ, "NO_COLOR": "1"})
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return Done(seconds, done.stdout)


def compare(name, figure, ours, theirs):
    """Print one figure of all runs; return whether it is within its limit."""
    ratio, best = statistics.median(ours) / statistics.median(theirs), min(ours) / min(theirs)
    print(
        f"{name}, {figure.name}: {spread(ours)} vs. {spread(theirs)}: "
        f"ratio of the medians {ratio:.2f}, of the minima {best:.2f}, limit {figure.promise}",
        flush=True,
    )
    return min(ratio, best) <= figure.promise


def spread(seconds):
    return f"{statistics.median(seconds):.3f} s ({min(seconds):.3f} to {max(seconds):.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help=f"of {', '.join(PAIRS)}; all by default")
    parser.add_argument("--repeats", type=int, help="measured runs of each command")
    args = parser.parse_args()
    kept = True
    if "log" in (args.pairs or PAIRS):
        run([*PLAIN_READING, "--make"])
        atexit.register(os.unlink, LOG)
    for name in args.pairs or PAIRS:
        pair = PAIRS[name]
        run(pair.ours), run(pair.theirs)
        both = [(run(pair.ours), run(pair.theirs)) for _ in range(args.repeats or pair.repeats)]
        for figure in pair.figures:
            kept &= compare(name, figure, [figure.ours(one) for one, _ in both], [figure.theirs(one) for _, one in both])
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
