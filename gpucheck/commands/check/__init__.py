"""Check this machine: the default command of ``gpucheck``."""

COMMANDS = {
    "check": ("gpucheck.commands.check.command", "Check this machine, and train on every device as the proof (the default)."),
}
