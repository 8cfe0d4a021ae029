"""``python -m gpucheck`` is the same command as ``gpucheck``."""

from gpucheck.cli import main

main()
