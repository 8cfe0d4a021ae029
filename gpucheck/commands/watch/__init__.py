"""Monitor training while it runs: a thread judges its steps, NVML's values (queried by a child process) and memory."""
