"""Write the expectations of a machine, and compare machines and reports."""

COMMANDS = {
    "snapshot": (
        "gpucheck.commands.expectations.snapshot",
        "Write this machine's state to a file, as expectations for other machines.",
    ),
    "compare": ("gpucheck.commands.expectations.compare", "Show what changed since a report or a snapshot."),
}
