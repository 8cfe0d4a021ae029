"""``run --watch``: prepare the command's environment, and start the monitor process."""

import os
import subprocess
import sys
import tempfile

from gpucheck.cli.screen import say
from gpucheck.core.host.child import PACKAGE

STARTUP = os.path.join(PACKAGE, "commands", "watch", "startup")
START_SECONDS = 10.0
# The second fork keeps the monitor from being a child of the command. The package's folder comes last on sys.path.
_START = (
    "import os, sys; os.fork() and os._exit(0); sys.path.append(sys.argv.pop(1)); "
    "from gpucheck.commands.watch.outside import main; main()"
)


def watched(env: dict[str, str]) -> dict[str, str]:
    """Start the monitor of this process, and return an environment that adds a ``Watch`` to each fit of Keras.

    Process 1 starts no monitor: it would become a child of the command, and the kernel would end it with the command.
    """
    env = {**env, "PYTHONPATH": os.pathsep.join(filter(None, [STARTUP, env.get("PYTHONPATH")]))}
    if sys.platform == "win32" or os.getpid() == 1:
        return env
    try:
        return {**env, "GPUCHECK_WATCH": _monitor()}
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"gpucheck: --watch sees nothing but fits of Keras: {error}")
        return env


def _monitor() -> str:
    """Start the monitor and return its named pipe, which the monitor removes."""
    own = str(os.getpid())
    pipe = os.path.join(tempfile.mkdtemp(prefix="gpucheck-"), own)
    os.mkfifo(pipe, 0o600)
    argv, null = [sys.executable, "-c", _START, os.path.dirname(PACKAGE), own, pipe], subprocess.DEVNULL
    subprocess.Popen(argv, stdin=null, stdout=null, cwd="/", start_new_session=True).wait(START_SECONDS)
    return pipe
