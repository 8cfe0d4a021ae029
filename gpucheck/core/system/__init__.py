"""The operating system: bounded reads and complete writes of files, resource limits, shells, and files that hide others."""
