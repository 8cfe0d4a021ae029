"""Run the command as a user types it: in this process, or in a new one for tests of the process itself."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from click.testing import CliRunner

from gpucheck.cli.group import start
from gpucheck.cli.time_limit import TimeLimit


class Done(NamedTuple):
    """The result of a command."""

    returncode: int
    stdout: str
    stderr: str


def gpucheck(
    *args: object, cwd: str | os.PathLike[str] = ".", env: Mapping[str, str] | None = None, input: str | bytes | None = None
) -> Done:
    """Run the command in this process, without the user's settings; `run` gets a new process, because it becomes another program."""
    if args[:1] == ("run",):
        return in_a_process(*args, cwd=cwd, env=env)
    environment = {**dict.fromkeys(own_settings()), **(env or {})}
    argv, sys.argv = sys.argv, ["gpucheck", *map(str, args)]
    try:
        with inside(cwd), CliRunner().isolation(input=input, env=environment) as (out, err, _):
            try:
                code = start(TimeLimit(time.monotonic()))
            except SystemExit as error:
                code = error.code
            done = Done(int(code or 0), out.getvalue().decode("utf-8", "replace"), err.getvalue().decode("utf-8", "replace"))
    finally:
        sys.argv = argv
    assert "Traceback" not in done.stderr, done.stderr
    return done


def in_a_process(*args: object, cwd: str | os.PathLike[str] = ".", env: Mapping[str, str] | None = None) -> Done:
    """Run the command in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "gpucheck", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
        env={**{name: value for name, value in os.environ.items() if name not in own_settings()}, **(env or {})},
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def own_settings() -> list[str]:
    """Variables with which the user may have configured gpucheck or selected a Python."""
    return [name for name in os.environ if name.startswith("GPUCHECK_")] + ["GITHUB_STEP_SUMMARY", "VIRTUAL_ENV", "CONDA_PREFIX"]


@contextlib.contextmanager
def inside(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Change the current folder; contextlib.chdir requires Python 3.11."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
