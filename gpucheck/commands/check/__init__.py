"""Check this machine: the command that ``gpucheck`` alone is."""

COMMANDS = {
    "check": ("gpucheck.commands.check.command", "Check this machine, and train on every device as the proof (the default)."),
}
