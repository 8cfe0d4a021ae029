"""Print the scripts and manifests of ``gpucheck/recipes``."""

COMMANDS = {
    "recipe": ("gpucheck.commands.recipe.command", "Print a recipe for Slurm, Kubernetes, Prometheus, systemd or Docker."),
}
