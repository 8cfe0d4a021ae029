"""``python -m gpucheck`` is the same command as ``gpucheck``, with the current folder first on Python's path."""

import sys

from gpucheck.child import shadows

try:
    from gpucheck.cli import main
except Exception as error:
    if shadows.tell(error):
        sys.exit(3)
    raise

main()
