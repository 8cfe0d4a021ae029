"""Monitor training while it runs: a thread judges its steps, NVML's values (queried by a child process) and memory."""

MONITOR = "gpucheck.commands.watch.process_monitor"  # its function main monitors a command, for `run --watch`
STARTUP = "gpucheck.commands.watch.startup"  # the folder that `run --watch` puts first on PYTHONPATH
