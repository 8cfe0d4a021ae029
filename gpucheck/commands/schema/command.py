"""The command ``schema``."""

import click

from gpucheck.cli.parameters import Command
from gpucheck.cli.screen import show


@click.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of the report.

    \b
    Example:
      gpucheck schema > report.schema.json
    """
    import json

    from gpucheck.core.engine import schema as published

    show(json.dumps(published.schema(), indent=2) + "\n")
