"""Say what to install on this machine, and install it."""

COMMANDS = {
    "setup": ("gpucheck.commands.setup.command", "Say what to install on this machine; --apply installs it."),
}
