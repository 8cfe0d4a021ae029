"""Write what is expected of a machine, and compare a machine with it."""

COMMANDS = {
    "snapshot": ("gpucheck.commands.expectations.snapshot_command", "Write what this machine is as what is expected of others."),
    "compare": ("gpucheck.commands.expectations.compare", "Show what changed since a report or a snapshot."),
}
