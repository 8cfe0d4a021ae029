"""``python -m gpucheck`` is the same command as ``gpucheck``, with the current folder first on Python's path, if it is ours."""

import os
import sys


def _own_folder_only() -> None:
    from gpucheck.core.system.ownership import is_ours

    try:
        if sys.path[:1] == [os.getcwd()]:
            folder = sys.path.pop(0)  # the modules needed to decide must not come from there
            if is_ours(folder):
                sys.path.insert(0, folder)
    except OSError:  # it was removed
        pass


try:
    _own_folder_only()
    from gpucheck.cli import main
except (Exception, SystemExit) as error:  # exit code 0 would mean healthy, 1 a fault
    try:
        from gpucheck.core.system.shadowing import report_shadowing_file

        explained = report_shadowing_file(error)
    except Exception:
        explained = False
    if not explained:
        os.write(2, f"gpucheck: no verdict: {type(error).__name__}: {error}\n".encode("utf-8", "backslashreplace"))
    sys.exit(3)

main()
