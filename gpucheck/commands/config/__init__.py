"""Show the settings in force."""

COMMANDS = {
    "config": ("gpucheck.commands.config.command", "Show the settings, and where each comes from."),
}
