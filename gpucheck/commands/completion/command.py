"""The command ``completion``."""

import click

from gpucheck.cli.parameters import Command
from gpucheck.cli.screen import show


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the shell's completion script. A new shell then completes commands, options and codes.

    \b
    Bash, with the package bash-completion:
      mkdir -p ~/.local/share/bash-completion/completions
      gpucheck completion bash > ~/.local/share/bash-completion/completions/gpucheck
    Zsh, with "fpath+=~/.zfunc" before "compinit" in ~/.zshrc:
      mkdir -p ~/.zfunc
      gpucheck completion zsh > ~/.zfunc/_gpucheck
    Fish:
      mkdir -p ~/.config/fish/completions
      gpucheck completion fish > ~/.config/fish/completions/gpucheck.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell!r}")
    show(kind(click.get_current_context().find_root().command, {}, "gpucheck", "_GPUCHECK_COMPLETE").source() + "\n")
