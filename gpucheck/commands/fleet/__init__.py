"""Many nodes: their reports in one answer, a check on each, and a training over all."""

COMMANDS = {
    "fleet": ("gpucheck.commands.fleet.command", "Fold the reports of many nodes by root cause, version and speed."),
}
