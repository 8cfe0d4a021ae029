"""Arbitrary logs are explained in every format."""

import pathlib

from fuzz.inputs import Bounded, fuzzed, texts
from hypothesis import given

from gpucheck.commands.explain.log import explain
from gpucheck.core.reports import json, markdown, terminal
from gpucheck.core.reports.redaction import redact

LOGS = [
    path.read_text(encoding="utf-8", errors="replace")
    for path in sorted(pathlib.Path(__file__).parents[1].glob("cases/logs/texts/*/*.log"))[::8]
]


@fuzzed
@given(texts(*LOGS))
def test_any_log_is_explained(text):
    with Bounded():
        report = explain([("", text.splitlines(keepends=True))], "train.log")
        json.render(report)
        terminal.render(report, verbose=True, width=80, color=False, ascii=False)
        markdown.render(redact(report))
