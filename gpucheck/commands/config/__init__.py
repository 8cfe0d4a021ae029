"""Show the settings in effect."""

COMMANDS = {
    "config": ("gpucheck.commands.config.command", "Show the settings, and where each comes from."),
}
