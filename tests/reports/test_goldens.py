"""Every report of ``cases.py`` in every format, and the situations of ``situations.json`` in full, match the recorded files.

``--update-goldens`` rewrites them; review the diff.
"""

import importlib
import pathlib
import re

import msgspec
import pytest
from fakes import listed
from golden.outputs import LONG, titled
from golden.test_golden import difference
from reports.cases import CASES, SITUATIONS, situation

from gpucheck.cli.formats import FORMATS
from gpucheck.core.reports import markdown, terminal

GOLDEN = pathlib.Path(__file__).parent / "golden"
LOOKS = {
    "80.txt": {"width": 80, "color": False, "ascii": False, "verbose": False},
    "80.ansi": {"width": 80, "color": True, "ascii": False, "verbose": False},
    "60.txt": {"width": 60, "color": False, "ascii": True, "verbose": False},
    "110v.txt": {"width": 110, "color": False, "ascii": False, "verbose": True},
}


def cases():
    short = dict.fromkeys((style for style in FORMATS if style not in LONG), "")
    for name, make in CASES.items():
        made = make()
        made = msgspec.structs.replace(made, probes=listed(made.probes))
        for suffix, look in LOOKS.items():
            yield f"{name}.{suffix}", terminal.render(made, **look)
        yield f"{name}.md", markdown.render(made, facts=False)
        for style in short:
            text = importlib.import_module(f"gpucheck.core.reports.{style}").render(made)
            short[style] += titled(text, style, name)
    yield from ((f"all.{style}", text) for style, text in short.items())


def situations():
    for name, described in SITUATIONS.items():
        text = terminal.render(situation(**described), width=120, color=False, ascii=False, verbose=True)
        yield (
            f"situations/{name.replace(',', '').replace(' ', '-')}.txt",
            re.split("\n  (?:ruled out|probes)\n", text)[0] + "\n" + text.rpartition("\n\n")[2],
        )


@pytest.mark.parametrize("texts", [cases, situations])
def test_reports_match_recorded_files(texts, request):
    folder = GOLDEN / "situations" if texts is situations else GOLDEN
    printed = dict(texts())
    uncleaned = [name for name, text in printed.items() if text.encode(errors="ignore").decode() != text]
    assert uncleaned == [], "facts can contain lone surrogates, so formats must clean their output (reports/shared/words.py)"
    if request.config.getoption("--update-goldens"):
        folder.mkdir(exist_ok=True)
        for path in folder.glob("*.*"):
            path.unlink()
        for name, text in printed.items():
            (GOLDEN / name).write_text(text, encoding="utf-8", newline="")
    files = [path for path in folder.iterdir() if path.is_file()]
    recorded = {path.relative_to(GOLDEN).as_posix(): path.read_bytes().decode() for path in files}
    assert difference(recorded, printed) == ""
