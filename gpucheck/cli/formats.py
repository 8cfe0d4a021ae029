"""The report formats, and the options that select them: ``--format``, ``--report``, ``--redact``, ``--exit-style``."""

import functools
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import click
import msgspec

from gpucheck.cli.exit_styles import EXIT_STYLES
from gpucheck.cli.parameters import COLOR, FilePath, typed

NODE_STYLES = tuple(EXIT_STYLES)
STYLES = tuple(style for style in EXIT_STYLES if style != "slurm")
Command = Callable[..., Any]


class Format(msgspec.Struct, frozen=True):
    """Properties of a format, in addition to its module in ``gpucheck/core/reports``."""

    redacted: bool = False  # whether it is redacted by default, because it is intended for sharing
    extra: str | None = None  # the distribution's extra that it requires
    in_place: bool = False  # written into the existing file: the kubelet mounts its own, which rename can't replace


FORMATS = {
    "terminal": Format(),
    "json": Format(),
    "brief": Format(redacted=True),
    "markdown": Format(redacted=True),
    "html": Format(redacted=True, extra="html"),
    "junit": Format(),
    "github": Format(),
    "prometheus": Format(),
    "nagios": Format(),
    "npd": Format(),
    "termination": Format(in_place=True),
}


class Outputs(NamedTuple):
    """The outputs of a command, as its options define them."""

    style: str | None  # the format of ``target``; None: the command prints something other than a report
    target: str | None = None  # a file; None and "-" are standard output
    reports: tuple[tuple[str, str], ...] = ()  # more reports: format, file
    redacting: bool | None = None  # None: as the format does by default
    exit_style: str = "default"
    color: str = "auto"
    verbose: bool = False


OF_SUFFIX = {".json": "json", ".html": "html", ".md": "markdown", ".xml": "junit", ".prom": "prometheus"}


def format_of(path: str | None) -> str | None:
    """Return the format for a file name's suffix; None if no format has it."""
    return OF_SUFFIX.get(os.path.splitext(path or "")[1].lower())


class ReportFile(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """``FORMAT=FILE``."""

    name = "format=file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split the value; fail for an unknown format."""
        if isinstance(value, tuple):
            return value
        style, equals, path = str(value).partition("=")
        meant = OF_SUFFIX.get(f".{style}") if equals else format_of(style)
        if meant is not None and style not in FORMATS:
            self.fail(f"{value!r} is not FORMAT=FILE (did you mean {meant}={path or style}?)", param, ctx)
        if not equals or style not in FORMATS:
            self.fail(f"{value!r} is not FORMAT=FILE with one of the formats {', '.join(FORMATS)}", param, ctx)
        if path in ("", "-"):
            self.fail(f"{value!r} has no file name; --format {style} writes to standard output", param, ctx)
        return style, path


def report_options(styles: tuple[str, ...]) -> Callable[[Command], Command]:
    """Add the options for a report's format and output to a command, which receives ``outputs``, an ``Outputs``.

    Args:
        styles: the exit styles that the command supports.
    """
    options = (
        click.option(
            "--format",
            "style",
            type=click.Choice(list(FORMATS)),
            default="terminal",
            show_default=f"from the suffix of --output ({', '.join(OF_SUFFIX)}), else terminal",
            metavar="FORMAT",
            help=f"One of: {', '.join(FORMATS)}.",
        ),
        click.option(
            "--output",
            "target",
            type=FilePath(dir_okay=False),
            metavar="FILE",
            help="Write the report to this file, atomically.",
        ),
        click.option(
            "--report",
            "reports",
            type=ReportFile(),
            multiple=True,
            metavar="FORMAT=FILE",
            help="Also write a report in this format to this file. May be repeated.",
        ),
        click.option(
            "--redact/--no-redact",
            "redacting",
            default=None,
            help="Replace hosts, users, home folders, UUIDs, serial numbers, addresses and secrets with aliases."
            "  [default: in brief, markdown and html]",
        ),
        click.option(
            "--exit-style",
            type=click.Choice(styles),
            default="default",
            show_default=True,
            help="Exit codes to use: gpucheck's own, or those for Nagios, node-problem-detector"
            f"{', Docker health checks or a Slurm Prolog.' if 'slurm' in styles else ' or Docker health checks.'}",
        ),
        COLOR,
        click.option(
            "-v", "--verbose", is_flag=True, help="Also show what was ruled out, what was not checked and why, and timings."
        ),
    )

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_outputs(**given: Any) -> Any:
            outputs = Outputs(*(given.pop(name) for name in Outputs._fields))
            style = outputs.style if typed("style") else format_of(outputs.target) or outputs.style
            return command(outputs=outputs._replace(style=style), **given)

        for option in reversed(options):
            with_outputs = option(with_outputs)
        return with_outputs

    return decorate
