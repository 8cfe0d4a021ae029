"""Static checks of a training script: it is parsed, never executed.

``source`` reads files, ``trace`` follows a program in execution order, ``rules`` check the recorded events,
``runner`` combines them. If the trace is uncertain, a rule reports nothing.
"""

COMMANDS = {"lint": ("gpucheck.commands.lint.command", "Find mistakes in training scripts, without running them.")}
PAGES = "gpucheck.commands.lint.pages"  # the pages of its rules, for `explain`
