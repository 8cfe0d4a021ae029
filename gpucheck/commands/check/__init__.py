"""Check this machine: the default command of ``gpucheck``."""

COMMANDS = {
    "check": ("gpucheck.commands.check.command", "Check this machine, and train briefly on every device (the default)."),
}
