"""The codes of diagnoses link to their published pages, once the package's metadata has their address."""

import subprocess
import sys

import pytest

PAINT = """
from gpucheck.core.reports.shared.terminal_text import TerminalText
for color in (True, False):
    out = TerminalText(width=40, color=color, ascii=False)
    out.add(("driver-missing", "code"))
    print(ascii(str(out)))
"""
PLAIN = r"'\x1b[2mdriver-missing\x1b[0m\n'"


@pytest.mark.parametrize(
    ("metadata", "colored"),
    [
        (
            "Project-URL: Issues, https://example.com/issues\nProject-URL: Documentation, https://example.com/docs\n",
            r"'\x1b]8;;https://example.com/docs/diagnoses/driver-missing.md\x1b\\\x1b[2mdriver-missing\x1b[0m\x1b]8;;\x1b\\\n'",
        ),
        ("Project-URL: Documentation, https://example.com/OWNER/docs\n", PLAIN),
        ("Project-URL: Documentation, file:///docs\n", PLAIN),
        ("", PLAIN),
    ],
    ids=["published", "without an owner", "no web address", "none"],
)
def test_codes_are_links_in_color_only(tmp_path, metadata, colored):
    folder = tmp_path / "keras_gpucheck-9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: keras-gpucheck\nVersion: 9\n{metadata}")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}){PAINT}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [colored, "'driver-missing\\n'"]
