"""Every command reports the same cause and first step for a fault: --quick, --no-smoke, run, env, require, explain."""

import json
import re
import subprocess
import sys

import pytest
from lab.bench import Unavailable
from lab.faults import faults

IMPORT = "import tensorflow as tf; print(tf.config.list_physical_devices())"
REQUIRE = """
import gpucheck
try:
    gpucheck.require(gpus=1)
except gpucheck.NotReady as error:
    first = error.report.findings[0]
    print(first.code, first.fix[0].command or first.fix[0].text, sep="\\n")
"""
# Whether TensorFlow's own messages name the cause.
NAMED_IN_LOG = {
    "clean-2.21.0-with-and-cuda": False,
    "cudnn-missing": False,
    "driver-470": False,
    "local-numpy.py": True,
    "local-calendar.py": True,
    "foreign-libstdc++-first": False,
    "protobuf-missing": True,
    "numpy-missing": True,
}


def first(findings):
    fix = findings[0]["fix"][0]
    return findings[0]["code"], fix["command"] or fix["text"]


def fix(stderr):
    return stderr.split("to fix it: ")[1].splitlines()[0]


def answers(bench, fault):
    """The code of the first finding and its first step, of each command."""
    with bench.injected(fault) as trial:
        machine = bench.on_machine(fault, trial, [])
        env = bench.surroundings(trial, fault.scenario)

        def answer(*command):
            return subprocess.run([*machine, *command], env=env, cwd=trial.folder, capture_output=True, text=True, timeout=200)

        python = str(trial.environment.python)
        gpucheck = [sys.executable, "-m", "gpucheck"]
        for level in ("--quick", "--no-smoke"):
            yield level, first(json.loads(answer(*bench.command(trial, level)).stdout)["findings"])
        stopped = answer(*gpucheck, "run", "--python", python, "--", "true").stderr
        yield "run", (stopped.split("not started: ")[1].split(":")[0], fix(stopped))
        variables = answer(*gpucheck, "env", "--python", python)
        printed = variables.stdout.split("  # ")[0]
        code = None if printed else variables.stderr.split("fixes this: ")[1].split(":")[0]
        yield "env", (code, printed or fix(variables.stderr))
        yield "require", tuple(answer(python, "-c", REQUIRE).stdout.splitlines())
        if NAMED_IN_LOG[fault.name]:
            log = trial.folder / "train.log"
            log.write_text(answer(python, "-c", IMPORT).stderr)
            code, step = first(json.loads(answer(*gpucheck, "explain", str(log), "--format", "json").stdout)["findings"])
            yield "explain", (code, step.replace("python -m", f"{python} -m"))


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", NAMED_IN_LOG)
def test_every_command_gives_the_same_answer(bench, name):
    fault = next(fault for fault in faults() if fault.name == name)
    try:
        given = dict(answers(bench, fault))
    except Unavailable as error:
        pytest.skip(str(error))
    # A log does not show which versions of another package this release requires.
    steps = {re.sub(r'"?([\w-]+)[<>=][^"]*"?$', r"\1", step) for _, step in given.values()}
    codes = {code for code, _ in given.values()} - {None}  # variables that `env` prints have no code
    assert (len(codes), len(steps)) == (1, 1), given
