import subprocess
import sys


def test_plain_numbers_do_not_import_packaging() -> None:
    code = (
        "import sys; from gpucheck.core.compat import versions; assert versions.satisfies('9.3.0.75', '<10.0,>=9.3.0.75');"
        "sys.exit('packaging' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
