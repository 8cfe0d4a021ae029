"""Read the pages of diagnoses, and name the root cause in a log."""

COMMANDS = {
    "explain": ("gpucheck.commands.explain.command", "Read a diagnosis' page, or name the root cause in a training's log."),
    "rules": ("gpucheck.commands.explain.command", "List every diagnosis."),
}
