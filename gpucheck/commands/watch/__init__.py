"""What happens to a training while it runs: a thread beside it judges its steps, NVML's answers (asked by a child) and memory."""
