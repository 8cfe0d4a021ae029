"""``python -m gpucheck`` is the same command as ``gpucheck``, with the current folder first on Python's path."""

import sys

from gpucheck.shadowing import report_shadowing_file

try:
    from gpucheck.cli import main
except Exception as error:
    if report_shadowing_file(error):
        sys.exit(3)
    raise

main()
