"""Check only the machine itself, for schedulers and monitoring."""

COMMANDS = {
    "node": (
        "gpucheck.commands.node.command",
        "Check only the machine itself, for Slurm, Kubernetes and monitoring.",
    ),
}
