"""Check, then replace this process with the command."""

COMMANDS = {
    "run": ("gpucheck.commands.run.command", "Check, then become the command: gpucheck run -- python train.py"),
}
