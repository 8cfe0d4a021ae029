"""Check many nodes: merge their reports, check each node, and train on all together."""

COMMANDS = {
    "fleet": ("gpucheck.commands.fleet.command", "Merge the reports of many nodes by root cause, version and speed."),
}
