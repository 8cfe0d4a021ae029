"""What ``gpucheck run`` needs to start a command: the memory of checks that passed, and becoming the command."""
