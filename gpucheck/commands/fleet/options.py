"""Options shared by the commands of ``fleet``."""

import re
from collections.abc import Callable
from typing import Any

import click

from gpucheck.cli.parameters import COLOR, FilePath

FORMATS = ("terminal", "json", "html", "junit", "prometheus", "csv")


class HostList(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Names of nodes in Slurm's host list notation."""

    name = "hostlist"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Expand the list."""
        from gpucheck.core.cluster.slurm import expand

        try:
            return tuple(dict.fromkeys(name for name in expand(str(value)) if name))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Age(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A duration: "90m", "12h", "7d"; in seconds."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fail for anything else."""
        match = re.fullmatch(r"(\d{1,6})([smhd])", str(value).strip(), re.ASCII)
        if match is None or not int(match[1]):
            self.fail(f"{value!r} is not an age such as 90m, 12h or 7d", param, ctx)
        return float(int(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[match[2]])


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the output of the merged fleet."""
    for option in (
        click.option(
            "--strict",
            is_flag=True,
            help="Also exit with 1 for warnings, slow nodes and different versions, and with 3 for old reports and wrong clocks.",
        ),
        click.option("--redact", "redacting", is_flag=True, help="Replace nodes, users, addresses and secrets with aliases."),
        COLOR,
        click.option(
            "--output",
            "target",
            type=FilePath(dir_okay=False),
            metavar="FILE",
            help="Write the result to this file, atomically.",
        ),
        click.option(
            "--format",
            "style",
            type=click.Choice(FORMATS),
            default="terminal",
            show_default="from the suffix of --output (.json, .html, .xml, .prom, .csv), else terminal",
        ),
    ):
        command = option(command)
    return command


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the engine, its nodes, and the folder of their reports."""
    for option in (
        click.option(
            "--engine-option",
            "options",
            multiple=True,
            metavar="OPTION",
            help="Pass this option to srun: --engine-option=--partition=gpu. May be repeated.",
        ),
        click.option("--reports", "folder", type=FilePath(), metavar="DIR", help="Keep the nodes' reports in this empty folder."),
        click.option("--nodes", type=HostList(), metavar="HOSTLIST", help="Check only these nodes; unknown ones are reported."),
        click.option("--address", default="auto", show_default=True, help="Address of the Ray cluster."),
        click.option(
            "--engine", type=click.Choice(["ray", "slurm"]), required=True, help="The system that starts the check on each node."
        ),
    ):
        command = option(command)
    return command
