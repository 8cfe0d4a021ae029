"""The two promises about cost, as ratios measured side by side on this machine.

    python benchmarks/run.py [--repeats N] [quick|whole]...

quick: ``gpucheck --quick --allow-cpu`` against ``python -c "import click, psutil, pynvml"``: at most 2.0.
whole: ``gpucheck --allow-cpu`` against ``plain_training.py``: at most 1.15.

The two commands of a pair alternate, after one unmeasured run of each; the figure is the ratio of the medians. Exit status 1
if a ratio is above its promise.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
GPUCHECK = str(pathlib.Path(sys.executable).parent / "gpucheck")
PAIRS = {
    "quick": ([GPUCHECK, "--quick", "--allow-cpu"], [sys.executable, "-c", "import click, psutil, pynvml"], 2.0, 15),
    "whole": ([GPUCHECK, "--allow-cpu"], [sys.executable, str(HERE / "plain_training.py")], 1.15, 5),
}


def seconds(command):
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "NO_COLOR": "1"})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help=f"of {', '.join(PAIRS)}; all by default")
    parser.add_argument("--repeats", type=int, help="measured runs of each command")
    args = parser.parse_args()
    broken = False
    for name in args.pairs or PAIRS:
        ours, plain, promise, repeats = PAIRS[name]
        seconds(ours), seconds(plain)
        times = [(seconds(ours), seconds(plain)) for _ in range(args.repeats or repeats)]
        mine, theirs = (statistics.median(column) for column in zip(*times, strict=True))
        spread = [min(column) for column in zip(*times, strict=True)], [max(column) for column in zip(*times, strict=True)]
        ratio = mine / theirs
        broken |= ratio > promise
        print(
            f"{name}: gpucheck {mine:.3f} s ({spread[0][0]:.3f} to {spread[1][0]:.3f}), plain {theirs:.3f} s "
            f"({spread[0][1]:.3f} to {spread[1][1]:.3f}), ratio {ratio:.2f}, promised at most {promise}"
        )
    return broken


if __name__ == "__main__":
    sys.exit(main())
