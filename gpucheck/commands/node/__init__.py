"""Check only the machine itself, for schedulers and monitoring."""

COMMANDS = {
    "node": ("gpucheck.commands.node.command", "Check the machine alone: for Slurm, Kubernetes and monitoring."),
}
