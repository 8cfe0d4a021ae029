"""Check the machine alone, for what guards a node."""

COMMANDS = {
    "node": ("gpucheck.commands.node.command", "Check the machine alone: for Slurm, Kubernetes and monitoring."),
}
