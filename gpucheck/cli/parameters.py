"""Kinds of parameters that click does not have, and the group that knows its default command."""

import math
import os
import shutil
from typing import Any

import click


class DefaultToCheck(click.Group):
    """A group whose options without a command belong to ``check``."""

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
        default = self.commands["check"]
        return found + default.shell_complete(ctx, incomplete) if incomplete.startswith("-") else found


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
