"""Measure how fast this machine trains."""

COMMANDS = {
    "bench": ("gpucheck.commands.bench.command", "Measure how fast this machine trains, and what limits it."),
}
