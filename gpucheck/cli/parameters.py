"""What click does not have: the group that imports its commands late and knows its default, and kinds of parameters."""

import importlib
import math
import os
import shutil
from typing import Any, ClassVar

import click

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


class Commands(click.Group):
    """A group whose options without a command belong to ``check``, and which imports a command when it is asked for."""

    modules: ClassVar[dict[str, str]] = {
        "check": "check",
        "run": "run",
        "env": "env",
        "snapshot": "snapshot",
        "compare": "compare",
        "config": "config",
        "explain": "manual",
        "rules": "manual",
        "schema": "manual",
        "lint": "lint",
        "bench": "bench",
        "completion": "manual",
    }  # command -> file of this package that holds it under its own name

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which help shows them."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's file."""
        if cmd_name not in self.modules:
            return None
        module = importlib.import_module(f"gpucheck.cli.{self.modules[cmd_name]}")
        command = getattr(module, cmd_name.replace("-", "_"))
        return command if isinstance(command, click.Command) else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``check`` before options that are not the group's own."""
        own = {"--help", "-h", "--version"}
        completing = ctx.resilient_parsing and not args  # commands are offered too, so none is chosen yet
        if not completing and (not args or (args[0].startswith("-") and args[0] not in own)):
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete the options of ``check`` too."""
        found = super().shell_complete(ctx, incomplete)
        default = self.get_command(ctx, "check")
        return found + default.shell_complete(ctx, incomplete) if default and incomplete.startswith("-") else found


def defaults(context: click.Context) -> dict[str, Any] | None:
    """What is configured for the command that was asked for, as click's defaults; None for one that doesn't look.

    Raises:
        click.UsageError: a setting that can't be used, with its place.
    """
    name = context.invoked_subcommand
    command = context.command.get_command(context, name) if name and isinstance(context.command, click.Group) else None
    options = {option: param for param in command.params for option in param.opts} if command is not None else {}
    if "--allow-cpu" not in options:
        return None
    from gpucheck.settings import collect

    try:
        configured = collect(os.environ, here()).values
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    found: dict[str, Any] = {}
    for key, (value, source) in configured.items():
        option = options.get({"level": "--quick", "expectations": "--expect"}.get(key, f"--{key}"))
        if option is None or option.name is None or (key == "format" and name != "check"):
            continue  # another command's
        try:
            found[option.name] = _converted(key, value, option, context)
        except click.BadParameter as error:
            raise click.UsageError(f"{source}: {key}: {error.message}") from None
    return {str(name): found} if found else None


def here() -> str:
    """The current folder."""
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return os.sep


def _converted(key: str, value: Any, option: click.Parameter, context: click.Context) -> Any:
    if key == "level":
        if value not in ("quick", "default", "full"):
            raise click.BadParameter(f"{value!r} is not one of 'quick', 'default', 'full'.")
        return None if value == "default" else value
    if option.multiple:
        return [option.type.convert(item, option, context) for item in value]
    return option.type.convert(value, option, context)


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

        try:
            with open(value, encoding="utf-8") as file:
                return parse(file.read(), os.fspath(value))
        except Problem as error:
            self.fail(str(error), param, ctx)
        except UnicodeDecodeError:
            self.fail(f"{value}: not UTF-8", param, ctx)
        except OSError as error:
            self.fail(f"cannot read {value}: {error.strerror or error}", param, ctx)
