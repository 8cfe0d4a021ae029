"""An environment is created completely and verified, or removed: with a fake uv, and with the real one."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import command
import pytest
from fakes import FakeHost
from leftovers import VARIABLE, leftovers_after

from gpucheck.cli import signals
from gpucheck.commands.setup import apply, steps
from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.host import Disk
from gpucheck.core.solver.machine import Machine, Python

ROOT = pathlib.Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a uv that is a shell script")

OTHER = (
    "3.12" if sys.version_info[:2] != (3, 12) else "3.13"
)  # a Python that must be downloaded, so that the test's uv creates the environment
SETUP = ("setup", "--cpu", "--python", OTHER, "--apply")
# The command of a step, and its error message.
FAILURES = {
    "echo 'error: dns error: failed to lookup address' >&2; exit 2": "the package index cannot be reached",
    "echo 'Caused by: No space left on device (os error 28)' >&2; exit 2": "the disk is full",
    "echo 'x No solution found when resolving' >&2; exit 1": "the package index has no matching packages",
    "echo 'ERROR: No matching distribution found (from versions: none)' >&2; exit 1": "the package index cannot be reached, or",
    "echo 'last words' >&2; exit 3": "a step failed; the new environment was removed uv exited with status 3 last words",
    "kill -9 $$": "uv killed by SIGKILL",
}


def surroundings(folder, venv=":", install=":"):
    """Variables with which gpucheck finds one Python, and a fake uv that runs these commands."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(sys.executable)
    uv = programs / "uv"
    uv.write_text(
        f'#!/bin/sh\nPATH=/usr/bin:/bin\ncase $1 in venv) for last; do :; done; mkdir -p "$last/bin"; {venv};; *) {install};; esac\n'
    )
    uv.chmod(0o755)
    return {"PATH": f"{programs}", "HOME": str(folder), "PYTHONPATH": str(ROOT), "PYENV_ROOT": str(folder)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--backend", "torch"),
            ("the package index https://download.pytorch.org/whl/cpu cannot be reached", "PyPI's build", "mirror"),
        ),
        ((), ("the package index cannot be reached", "HTTPS_PROXY", "UV_DEFAULT_INDEX")),
    ],
)
def test_unreachable_index_is_named_with_advice(tmp_path, options, words):
    env = surroundings(tmp_path, install="echo 'error: dns error: failed to lookup address' >&2; exit 2")
    done = command.gpucheck(*SETUP, tmp_path / "env", *options, env=env)
    assert (done.returncode, [word for word in words if word not in done.stderr]) == (1, []), done.stderr


def test_failed_step_removes_the_environment(tmp_path):
    outcomes = {}
    for number, words in enumerate(FAILURES):
        (folder := tmp_path / str(number)).mkdir()
        done = command.gpucheck(*SETUP, folder / "env", env=surroundings(folder, install=words))
        outcomes[words] = (done.returncode, FAILURES[words] in " ".join(done.stderr.split()), sorted(os.listdir(folder)))
    assert {words: outcome for words, outcome in outcomes.items() if outcome != (1, True, ["programs"])} == {}


def test_failed_creation_leaves_nothing(tmp_path):
    done = command.gpucheck(*SETUP, tmp_path / "env", env=surroundings(tmp_path, venv="exit 1"))
    assert (done.returncode, os.listdir(tmp_path)) == (1, ["programs"])
    assert "a step failed" in done.stderr


def test_environment_that_does_not_train_is_kept_and_reported(tmp_path):
    env = surroundings(tmp_path)  # the new environment has no interpreter
    done = command.gpucheck(*SETUP, tmp_path / "env", env=env)
    assert done.returncode == 1
    assert "but does not train here" in done.stdout
    assert "Good" not in done.stdout
    assert f"rm -rf {tmp_path}/env" in done.stdout


def test_existing_folder_is_refused_and_unchanged(tmp_path):
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "mine").write_text("mine")
    done = command.gpucheck(*SETUP, tmp_path / "env", env=surroundings(tmp_path))
    assert done.returncode == 2
    assert (tmp_path / "env" / "mine").read_text() == "mine"


def test_timeout_removes_the_environment(tmp_path):
    env = surroundings(tmp_path, install="sleep 600")
    done = command.gpucheck(*SETUP, tmp_path / "env", "--timeout", "4", env=env)
    assert (done.returncode, os.listdir(tmp_path)) == (1, ["programs"])
    assert "it took longer than --timeout allows" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_removes_the_environment(tmp_path, number):
    env = {**surroundings(tmp_path, install='touch "$0.begun"; sleep 600'), VARIABLE: str(tmp_path)}
    argv = [sys.executable, "-m", "gpucheck", *SETUP, str(tmp_path / "env")]
    process = subprocess.Popen(argv, env=env, stdout=-1, stderr=-1, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "programs" / "uv.begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert os.listdir(tmp_path) == ["programs"]
    assert leftovers_after(str(tmp_path), 5) == []


def test_signals_are_deferred_during_removal_of_the_environment(tmp_path):
    before, during = signal.getsignal(signal.SIGINT), []

    @contextlib.contextmanager
    def uninterruptible():
        with signals.uninterruptible():
            signal.raise_signal(signal.SIGINT)
            yield during.append(os.listdir(tmp_path))

    machine = Machine(pythons=(Python(version="3.12", executable="/bin/false"),))
    with pytest.raises(steps.Failed):
        apply.apply(
            solve(machine),
            f"{tmp_path}/env",
            FakeHost(),
            steps.Screen(lambda line: None, None, uninterruptible),
            time.monotonic() + 60,
        )
    assert (during, os.listdir(tmp_path)) == ([["env"]], [])
    assert signal.getsignal(signal.SIGINT) == before


def refusal(machine, host, folder):
    """Why an installation does not start."""
    screen = steps.Screen(lambda line: None, None, lambda: pytest.fail("no step was started"))
    with pytest.raises(apply.Refused) as caught:
        apply.apply(solve(machine), str(folder), host, screen, time.monotonic() + 60)
    return str(caught.value)


def test_refused_start_gives_a_reason(tmp_path):
    here = Machine(pythons=(Python(version="3.12", executable="/usr/bin/python3.12"),))
    full = FakeHost(disks={str(tmp_path): Disk(total_bytes=1 << 40, free_bytes=1 << 30)})
    assert "1.1 GB are free" in refusal(here, full, tmp_path / "env")
    assert "neither is uv" in refusal(Machine(pythons=()), FakeHost(), tmp_path / "env")
    bare = Machine(pythons=(Python(version="3.12", executable="/usr/bin/python3.12", has_venv=False),))
    assert "python3.12-venv" in refusal(bare, FakeHost(), tmp_path / "env")
    assert os.listdir(tmp_path) == []


@pytest.mark.tensorflow
@pytest.mark.slow
def test_environment_that_trains_is_good(tmp_path):
    """The new environment uses the packages of the test environment instead of a download."""
    site = next(path for path in sys.path if path.endswith("site-packages"))
    real = os.path.realpath(sys.executable)
    venv = f'{real} -m venv --without-pip "$last"; for site in "$last"/lib/python*/site-packages; do echo {site} > $site/all.pth; done'
    done = command.in_a_process(*SETUP, tmp_path / "env", env=surroundings(tmp_path, venv=venv))
    assert (done.returncode, done.stdout[:5]) == (0, "Succe"), done.stdout + done.stderr
    assert "one_device trained on CPU:0" in done.stdout
