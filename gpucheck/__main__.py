"""``python -m gpucheck`` is the same command as ``gpucheck``, with the current folder first on Python's path, if it is ours."""

import os
import sys

from gpucheck.files.ownership import is_ours
from gpucheck.shadowing import report_shadowing_file

try:
    if sys.path[:1] == [os.getcwd()]:
        folder = sys.path.pop(0)  # what is asked must not come from there
        if is_ours(folder):
            sys.path.insert(0, folder)
except OSError:  # it was removed
    pass

try:
    from gpucheck.cli import main
except Exception as error:
    if report_shadowing_file(error):
        sys.exit(3)
    raise

main()
