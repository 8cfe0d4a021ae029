"""Print what to install on this machine, and install it."""

COMMANDS = {
    "setup": ("gpucheck.commands.setup.command", "Print what to install on this machine; --apply installs it."),
}
