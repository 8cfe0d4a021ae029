"""What click does not have: a command whose help can't be written, and kinds of parameters."""

import math
import os
import shutil
from typing import Any

import click

from gpucheck.cli.screen import show

EXAMPLES = """\b
Examples:
  gpucheck                              will this machine train on every GPU it has?
  gpucheck --quick                      the same without importing TensorFlow
  gpucheck --allow-cpu                  a machine without an accelerator is fine
  gpucheck --python .venv/bin/python    examine another environment
  gpucheck --format json --output report.json
  gpucheck --report html=report.html --report junit=report.xml
  gpucheck explain cuda-libraries-unreachable
"""
LARGEST_BYTES = 1 << 22  # of a file of expectations
DEPTHS = ("quick", "default", "full")


class Command(click.Command):
    """A command whose help is printed like everything else: a full disk and a closed standard output are told in a line."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option ``--help``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _help
        return option


def _help(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        show(context.get_help() + "\n")
        context.exit()


def here() -> str:
    """The current folder."""
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return os.sep


class Seconds(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A finite, positive number of seconds."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse what is not a number, NaN, infinity, zero and below."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds > 0):
            self.fail(f"{value!r} is not a positive number of seconds", param, ctx)
        return seconds


class Interpreter(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A program that can be run; whether it is a Python shows when it is asked."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Resolve a name on PATH or a path."""
        found = shutil.which(os.path.expanduser(str(value)))
        if found is None:
            self.fail(f"{value!r} is not a program that can be run", param, ctx)
        return os.path.abspath(found)


class ExpectationsFile(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A file of expectations, read and checked; what pyproject.toml holds comes as it is."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it; what is wrong in it is told with the line."""
        if not isinstance(value, (str, os.PathLike)):
            return value
        from gpucheck.expectations.read import Problem, parse
        from gpucheck.files.read import Refused, read

        try:
            return parse(read(os.fspath(value), LARGEST_BYTES).decode(), os.fspath(value))
        except (Refused, Problem) as error:
            self.fail(str(error), param, ctx)
        except UnicodeDecodeError:
            self.fail(f"{value}: not UTF-8", param, ctx)
