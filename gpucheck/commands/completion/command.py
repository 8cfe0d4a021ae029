"""The command ``completion``."""

import os
import pathlib

import click

from gpucheck.cli.parameters import Command
from gpucheck.cli.screen import say, show
from gpucheck.core.system.shells import word
from gpucheck.core.system.write import OutputFile

# Where each shell looks for a completion file: below a variable's folder, or below a folder in the home folder.
_FILES = {
    "bash": ("XDG_DATA_HOME", ".local/share", "bash-completion/completions/gpucheck"),
    "zsh": ("ZDOTDIR", "", ".zfunc/_gpucheck"),
    "fish": ("XDG_CONFIG_HOME", ".config", "fish/completions/gpucheck.fish"),
}
_ALSO = {
    "bash": "it needs the package bash-completion",
    "zsh": "it needs this line before compinit in ~/.zshrc: fpath+={folder}",
}


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(list(_FILES)), required=False)
@click.option("--install", is_flag=True, help="Write the script to the file where the shell looks for it.")
def completion(shell: str | None, install: bool) -> None:
    """Print the shell's completion script, or install it. A new shell then completes commands, options and codes.

    The default is the shell in the variable SHELL.

    \b
    Examples:
      gpucheck completion --install
      gpucheck completion fish > ~/.config/fish/completions/gpucheck.fish
    """
    from click.shell_completion import get_completion_class

    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    kind = get_completion_class(shell)
    if shell not in _FILES or kind is None:
        raise click.UsageError(f"no completion for the shell {shell!r}; expected one of {', '.join(_FILES)}")
    script = kind(click.get_current_context().find_root().command, {}, "gpucheck", "_GPUCHECK_COMPLETE").source() + "\n"
    if not install:
        show(script)
        return
    variable, folder, name = _FILES[shell]
    path = pathlib.Path(os.environ.get(variable) or pathlib.Path.home() / folder, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        OutputFile(str(path)).commit(script)
    except OSError as error:
        raise click.UsageError(f"cannot write {path}: {error.strerror or error}") from None
    also = _ALSO.get(shell, "").format(folder=word(str(path.parent)))
    say(f"gpucheck: wrote {path}; start a new shell{f'; {also}' if also else ''}")
