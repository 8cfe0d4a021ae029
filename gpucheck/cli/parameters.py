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
  gpucheck explain cuda-libraries-unreachable
"""


class Commands(click.Group):
    """A group whose options without a command belong to ``check``, and which imports a command when it is asked for."""

    modules: ClassVar[dict[str, str]] = {
        "check": "check",
        "explain": "manual",
        "rules": "manual",
        "schema": "manual",
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
