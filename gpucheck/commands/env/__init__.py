"""Print the environment variables that let TensorFlow use the GPUs."""

COMMANDS = {
    "env": ("gpucheck.commands.env.command", "Print the variables that let TensorFlow use the GPUs."),
}
