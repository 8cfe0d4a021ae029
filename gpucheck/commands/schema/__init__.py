"""Print the JSON Schema of the report."""

COMMANDS = {
    "schema": ("gpucheck.commands.schema.command", "Print the JSON Schema of the report."),
}
