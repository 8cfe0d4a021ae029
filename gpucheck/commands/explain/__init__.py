"""Print the manual pages of diagnoses, and find the root cause in a log."""

COMMANDS = {
    "explain": ("gpucheck.commands.explain.command", "Read a diagnosis' page, or name the root cause in a training's log."),
    "rules": ("gpucheck.commands.explain.command", "List every diagnosis."),
}
