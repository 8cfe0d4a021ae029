"""The command ``gpucheck`` itself: its subcommands, the default one, and the exit codes of their failures."""

import contextlib
import importlib
import math
import os
import re
import sys
import time
from collections.abc import Sequence
from typing import Any

import click

from gpucheck import __version__
from gpucheck.cli import INTERRUPTED, failure, registry
from gpucheck.cli.exit_styles import EXIT_STYLES, values_of
from gpucheck.cli.parameters import DEPTHS, EXAMPLES, Command, here
from gpucheck.cli.screen import say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout

ARGUMENTS = "gpucheck.arguments"
COMPLETION = "_GPUCHECK_COMPLETE"
ALIASES = {"help": "", "version": "--version", "doctor": "check"}  # names that other tools use
# The wording of click, which depends on its version and on the number of names, and of `did_you_mean`.
ALMOST = 0.1  # difference between ratios of difflib, which are from 0 to 1
_TIP = r"(?i)[ (;,.]*\b(?:did you mean (?:one of: )?|possible options: )([^?)]+)[?).;]* *(.*)$"
COMMON = ("check", "explain", "setup", "env", "run", "lint")  # the order of --help
ADVANCED = ("bench", "node", "snapshot", "compare", "fleet", "recipe", "rules", "config", "schema", "completion")


class Commands(Command, click.Group):
    """A group that imports commands on use, and runs ``check`` if only options are given."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the help."""
        return [name for part in sections().values() for name in part]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        entry = registry.find(cmd_name)
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry.module), cmd_name.replace("-", "_"))
        return command if isinstance(command, click.Command) else None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands first, one line each, because new users look for them. Imports none of them."""
        for title, part in sections().items():
            with formatter.section(title):
                formatter.write_dl(list(part.items()))
        super().format_options(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``check`` before options that are not the group's own."""
        own = {"--help", "-h", "--version", "-V"}
        if args and args[0] in ALIASES and not ctx.resilient_parsing:
            args = [*args[1:], "--help"] if args[0] == "help" else [ALIASES[args[0]], *args[1:]]
        completing = ctx.resilient_parsing and not args  # completion also offers commands, so none is chosen
        if not completing and (not args or (args[0].startswith("-") and args[0] not in own)):
            args = ["check", *args]
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Suggest a similar command for an unknown one."""
        if not ctx.resilient_parsing and registry.find(args[0]) is None:
            from gpucheck.core.model.naming import did_you_mean

            similar = did_you_mean(args[0], registry.entries(), otherwise="; gpucheck --help lists them")
            with contextlib.suppress(NoResponse):
                if with_timeout(FILE_SECONDS, os.path.isfile, args[0]):
                    reader = "lint" if args[0].endswith((".py", ".ipynb")) else "explain"
                    similar = f" (did you mean gpucheck {reader} {args[0]}?)"
            raise click.UsageError(f"No such command {args[0]!r}{similar}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Failures of gpucheck follow the exit style: wrong usage is not CRITICAL, a bug is not a fault."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            style = _style(ctx)
            if style == "default":
                raise
            _show_error(error)
            raise SystemExit(EXIT_STYLES[style]["usage"]) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except failure.NoVerdict as error:
            say(f"gpucheck: no verdict: {error}")
            raise SystemExit(EXIT_STYLES[_style(ctx)]["unknown"]) from None
        except Exception as error:
            failure.report(error)
            raise SystemExit(EXIT_STYLES[_style(ctx)]["unknown"]) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Also complete the options of ``check``."""
        completions = super().shell_complete(ctx, incomplete)
        default = self.get_command(ctx, "check")
        return completions + default.shell_complete(ctx, incomplete) if default and incomplete.startswith("-") else completions


def sections() -> dict[str, dict[str, str]]:
    """Return the sections of ``gpucheck --help``: command -> its purpose. Commands that are not listed above come last."""
    entries = registry.entries()
    advanced = [*ADVANCED, *sorted(entries.keys() - {*COMMON, *ADVANCED})]
    parts = {"Every day": COMMON, "Advanced": advanced}
    return {title: {name: entries[name].purpose for name in part if name in entries} for title, part in parts.items()}


def _version(context: click.Context, option: click.Parameter, requested: bool) -> None:
    if requested and not context.resilient_parsing:
        show(f"gpucheck {__version__}\n")
        context.exit()


@click.group(
    cls=Commands,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", "-V", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version and exit."
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Can this machine train Keras on every device it has? If not, print the root cause and the commands that fix it.

    `gpucheck` alone is `gpucheck check`. Exit codes: 0 healthy, 1 a fault, 2 wrong usage, 3 no verdict.
    """
    context.obj = context.obj or TimeLimit(time.monotonic())
    with contextlib.suppress(StopIteration, ValueError):  # before the search for settings; the option reports an invalid value
        context.obj.set(abs(float(next(values_of("--timeout", context.meta[ARGUMENTS])))) or math.inf)
    context.default_map = defaults(context)


def start(limit: TimeLimit) -> int:
    """Run the command line and return the exit code; commands may raise SystemExit.

    Args:
        limit: the command's time limit; each command sets its end.
    """
    name = "gpucheck" if sys.argv[0].endswith("gpucheck") else None
    try:
        code = cli.main(prog_name=name, complete_var=_completion(), standalone_mode=False, obj=limit)
    except click.ClickException as error:
        _show_error(error)
        return error.exit_code
    except click.Abort:  # Ctrl-C outside our own handlers
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _completion() -> str:
    """Return the variable with which a shell's script asks for completions; "" unless one asks: a job may have set it."""
    match = re.fullmatch(r"(?:bash|zsh|fish)_(source|complete)", os.environ.get(COMPLETION, ""))
    is_request = match is not None and (match[1] == "source" or {"COMP_WORDS", "COMP_CWORD"} <= os.environ.keys())
    return COMPLETION if is_request and not sys.argv[1:] else ""


def _show_error(error: click.ClickException) -> None:
    """Print the error first, then a tip, and the usage last, unless the error is about a file."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # a group alone; since click 8.2
        say(error.format_message())
        return
    if isinstance(error, click.NoSuchOption) and error.option_name.lstrip("-") in ("json", "html", "markdown", "junit", "csv"):
        name = error.option_name
        error = click.NoSuchOption(name, possibilities=[f"--format {name.lstrip('-')}"], ctx=error.ctx)
    elif isinstance(error, click.NoSuchOption) and error.possibilities:
        close = _closest(error.option_name, error.possibilities)
        error = click.NoSuchOption(error.option_name, possibilities=close, ctx=error.ctx)
    message = error.format_message()
    tip = re.search(_TIP, message)
    say(f"Error: {message[: tip.start()] if tip else message}")
    if tip:
        names = tip[1].replace("'", "").replace(", ", " or ")
        say(f"  tip: did you mean {names}? {tip[2]}".rstrip())
    context = getattr(error, "ctx", None)
    if context is not None and not message.startswith("cannot "):
        say(f"\n{context.get_usage()}\nTry '{context.command_path} --help' for help.")


def _closest(name: str, names: Sequence[str]) -> list[str]:
    """Return the names that are almost as similar as the most similar one."""
    import difflib

    ratios = {one: difflib.SequenceMatcher(None, name, one).ratio() for one in names}
    return [one for one, ratio in ratios.items() if ratio >= max(ratios.values()) - ALMOST]


def _style(context: click.Context) -> str:
    """Return the exit style, from arguments and settings that may be invalid."""
    from gpucheck.cli.settings import exit_style

    if context.invoked_subcommand not in (None, "check", "node"):
        return "default"
    of_node = context.invoked_subcommand == "node"  # it reads no settings, and is the only command with Slurm's style
    styles = [style for style in EXIT_STYLES if of_node or style != "slurm"]
    typed = next((value for value in values_of("--exit-style", context.meta[ARGUMENTS]) if value in styles), None)
    configured = None if of_node or typed else exit_style(os.environ, here())
    return typed or (configured if configured in styles else None) or "default"


def defaults(context: click.Context) -> dict[str, Any] | None:
    """Return the settings for the invoked command as click's defaults; None for a command that examines nothing.

    Raises:
        click.UsageError: an invalid setting, with its location.
    """
    name = context.invoked_subcommand
    options = options_of(context, name) if name else {}
    if "--allow-cpu" not in options:
        return None
    from gpucheck.cli.settings import collect

    try:
        settings = collect(os.environ, here())
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for file in settings.ignored:
        say(f"gpucheck: ignored {file}")
    values: dict[str, Any] = {}
    for key, (value, source) in settings.values.items():
        if key == "level" and value not in DEPTHS[1:]:
            raise click.UsageError(f"{source}: {key}: {value!r} is not one of 'quick', 'default', 'full'.")
        option = options.get({"level": f"--{value}", "expectations": "--expect"}.get(key, f"--{key}"))
        if option is None or option.name is None or (key == "format" and name != "check"):
            continue  # an option of another command
        try:
            if key != "level":
                values[option.name] = _converted(value, option, context)
            elif value != "default":  # "default" is what every command does without options
                values[option.name] = True
        except click.BadParameter as error:
            raise click.UsageError(f"{source}: {key}: {error.message}") from None
    return {str(name): values} if values else None


def options_of(group: click.Context, name: str) -> dict[str, click.Parameter]:
    """Return the options of a command, by their spelling; empty for an unknown command."""
    command = group.command.get_command(group, name) if isinstance(group.command, click.Group) else None
    return {option: param for param in command.params for option in param.opts} if command is not None else {}


def _converted(value: Any, option: click.Parameter, context: click.Context) -> Any:
    if option.multiple and isinstance(value, list):
        return [option.type.convert(item, option, context) for item in value]
    converted = option.type.convert(value, option, context)
    return [converted] if option.multiple else converted
