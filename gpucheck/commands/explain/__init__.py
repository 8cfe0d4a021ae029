"""Print the manual pages of diagnoses, and find the root cause in a log."""

COMMANDS = {
    "explain": (
        "gpucheck.commands.explain.command",
        "Print the page of a diagnosis, or find the root cause in a log or an error message.",
    ),
    "rules": ("gpucheck.commands.explain.command", "List every diagnosis."),
}
