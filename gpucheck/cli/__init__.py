"""The command line: parse, call, print, exit. The only package that knows click."""

import time

STARTED = time.monotonic()  # before the imports: they count against --timeout too

import contextlib  # noqa: E402
import gc  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from typing import Any, NoReturn  # noqa: E402

import click  # noqa: E402

from gpucheck import __version__  # noqa: E402
from gpucheck.cli.parameters import EXAMPLES, Commands, defaults  # noqa: E402


@click.group(
    cls=Commands,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="gpucheck %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Will this machine train Keras on every device it has? If not: the one root cause, and what to type.

    `gpucheck` alone is `gpucheck check`. Exit codes: 0 healthy, 1 a fault, 2 wrong usage, 3 no verdict could be reached.
    """
    context.obj = STARTED
    context.default_map = defaults(context)


def main() -> NoReturn:
    """Entry point. Leaves without interpreter teardown: a probe stuck in a dead file system must not hold the exit code."""
    gc.disable()  # a short run with little garbage
    try:
        cli.main(prog_name="gpucheck" if sys.argv[0].endswith("gpucheck") else None)
        code: Any = 0
    except SystemExit as error:
        code = error.code
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
            stream.flush()
    os._exit(code if isinstance(code, int) else 1 if code else 0)
