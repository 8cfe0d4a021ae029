"""Print the shell's completion script."""

COMMANDS = {
    "completion": ("gpucheck.commands.completion.command", "Print the shell's completion script."),
}
