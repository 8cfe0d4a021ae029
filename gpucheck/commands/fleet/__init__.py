"""Check many nodes: merge their reports, check each node, and train on all together."""

COMMANDS = {
    "fleet": ("gpucheck.commands.fleet.command", "Check many nodes, or merge their reports by root cause, version and speed."),
}
