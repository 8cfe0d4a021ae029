"""Static checks of a training script: it is parsed, never executed.

``source`` reads files, ``trace`` follows a program in the order in which it would run, ``rules`` judge what it did,
``runner`` puts them together. Where the trace cannot be sure, a rule stays silent.
"""

COMMANDS = {
    "lint": ("gpucheck.commands.lint.command", "Find mistakes in training scripts, without running them."),
}
PAGES = "gpucheck.commands.lint.pages"  # its rules have pages that `explain` shows
