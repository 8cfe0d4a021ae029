"""Additions to click: a command that survives unwritable help output, and parameter types."""

import functools
import math
import os
import re
import shutil
import textwrap
from typing import Any

import click
from click.core import ParameterSource

from gpucheck.cli.screen import show
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout

EXAMPLES = """\b
Examples:
  gpucheck                              can this machine train on every GPU it has?
  gpucheck --quick                      the same without importing TensorFlow
  gpucheck --allow-cpu                  accept a machine without an accelerator
  gpucheck --python .venv/bin/python    check another environment
  gpucheck setup                        what to install on this machine
  gpucheck --format json --output report.json
  gpucheck --report html=report.html --report junit=report.xml
  gpucheck explain cuda-libraries-unreachable
"""
LONGEST_SECONDS = 10_000_000.0  # a longer time limit is reduced to this one: deadlines would overflow
READ_SECONDS = 120.0  # time limit of a command that only reads
# Parameter names of rarely used options: shown below the others.
ADVANCED = frozenset(
    {
        *("strategies", "backend", "logical_devices", "log_device_placement", "no_smoke", "reports", "redacting", "exit_style"),
        *("recorded", "opened", "soak_minutes", "color", "profile", "target_accuracy", "price"),
    }
)
COLOR = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to use color. NO_COLOR is honored, too.",
)
_DEFAULT = r"default: (?:\((.*)\)(?=\])|(\d+)\.0\b)"  # click puts a text into parentheses
DEPTHS = ("node", "quick", "default", "full")


class Command(click.Command):
    """A command that prints help like all other output: a full disk or a closed standard output is reported on one line."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option ``--help``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _help
        return option

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the examples; on a narrow terminal, the description is below each command."""
        lines = [f"  {line.rstrip()}" for line in (self.epilog or "").splitlines()[1:]]  # the first is click's mark "\b"
        columns = [re.split(r"(?<=\S) {2,}", line, maxsplit=1) for line in lines]
        if any(len(parts) > 1 and len(line) > formatter.width for line, parts in zip(lines, columns, strict=True)):
            fill = functools.partial(textwrap.fill, width=formatter.width, initial_indent=" " * 8, subsequent_indent=" " * 8)
            lines = [line for first, *more in columns for line in (first, *map(fill, more))]
        formatter.write("".join(f"{line}\n" for line in ["", *lines] if lines))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the common options first, then the advanced ones."""
        for title, advanced in (("Options", False), ("Advanced", True)):
            options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
            shown = [option for option in options if (option.name in ADVANCED) is advanced]
            records = [record for option in shown if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl([(name, re.sub(_DEFAULT, r"default: \1\2", text)) for name, text in records])


def _help(context: click.Context, option: click.Parameter, requested: bool) -> None:
    if requested and not context.resilient_parsing:
        show(context.get_help() + "\n")
        context.exit()


def typed(*names: str) -> bool:
    """Whether one of these options is given on the command line."""
    context = click.get_current_context()
    return any(context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in names)


def here() -> str:
    """Return the current folder."""
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return os.sep


class PositiveNumber(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A finite number above zero."""

    name = "number"

    def __init__(self, unit: str = "", most: float = math.inf) -> None:
        """Set the unit for messages (plural) and the largest accepted number."""
        self._unit, self._most = unit, most
        self.name = unit or self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fail for anything but a number above zero, below infinity and up to the maximum."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (0 < number < math.inf and number <= self._most):
            expected = "positive number" if self._most == math.inf else f"number above 0 and at most {self._most:g}"
            self.fail(f"{value!r} is not a {expected}{f' of {self._unit}' if self._unit else ''}", param, ctx)
        return min(number, LONGEST_SECONDS) if self._unit == "seconds" else number


SECONDS = PositiveNumber("seconds")
MINUTES = PositiveNumber("minutes", most=10_000)


class Interpreter(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """An executable program; whether it is a Python is checked when it is run."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Resolve a name on PATH or a path."""
        try:
            found = with_timeout(FILE_SECONDS, shutil.which, os.path.expanduser(str(value)))
        except NoResponse as error:
            self.fail(f"cannot search for {value!r}: {error.strerror}", param, ctx)
        if found is None:
            path = os.path.expanduser(str(value))
            broken = os.path.islink(path) and not os.path.exists(path)
            why = f"links to {os.readlink(path)}, which does not exist: create its environment again" if broken else ""
            self.fail(f"{value!r} {why or 'is not an executable program'}", param, ctx)
        return os.path.abspath(found)


class FilePath(click.Path):
    """A path that is not checked here, because a check could take long; the code that opens it reports errors."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path unchanged."""
        return str(os.fspath(value))


class ExpectationsFile(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """An expectations file, read and validated; expectations from pyproject.toml are passed through."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the file; fail with the line of an error in it."""
        if not isinstance(value, (str, os.PathLike)):
            return value
        from gpucheck.core.expectations.read import LARGEST_BYTES, Problem, parse
        from gpucheck.core.system.read import Refused, read

        try:
            return parse(read(os.fspath(value), LARGEST_BYTES).decode(), os.fspath(value))
        except (Refused, Problem) as error:
            self.fail(str(error), param, ctx)
        except UnicodeDecodeError:
            self.fail(f"{value}: not UTF-8", param, ctx)
