"""The page of a benchmark: valid HTML that shows every figure of the terminal, and nothing of a device's name as HTML."""

import html5lib
import pytest
from bench.test_report import RESULTS
from msgspec.structs import replace

from gpucheck.commands.bench import page, wording
from gpucheck.commands.bench.wording import advice


def text_of(result):
    document = html5lib.HTMLParser(strict=True).parse(page.render(result))
    return " ".join("".join(document.itertext()).split())


@pytest.mark.parametrize("name", RESULTS)
def test_every_figure_is_on_the_page(name):
    result = RESULTS[name]
    text = text_of(result)
    figures = [value for each in result.measurements if each.status == "measured" for _, value in wording.figures(each)]
    reasons = [each.reason for each in result.measurements if each.status != "measured"]
    assert figures or reasons
    for expected in (*figures, *result.notes, *advice(result.measurements), wording.machine(result), wording.method(result)):
        assert " ".join(expected.split()) in text
    assert all(reason.split("\x1b")[0] in text for reason in reasons)


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("all-well", "Fastest: 1,280 (640 to 2,560) samples/s, mirrored on GPU:0-1, float32, batch 128 per replica"),
        ("waiting", "320 (320 to 320) samples/s, one_device on GPU:0, float32, batch 64 per replica"),
        (
            "one-failed",
            "Fastest: 640 (320 to 1,280) samples/s, mirrored on GPU:0-1, float32, batch 64 per replica; 1 of 3 configurations",
        ),
        ("interrupted", "Interrupted after 1 of 2 configurations"),
    ],
)
def test_heading_is_the_conclusion(name, heading):
    document = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page.render(RESULTS[name]))
    assert "".join(document.find(".//h1").itertext()).startswith(heading)


def test_names_from_the_machine_are_text():
    hostile = replace(RESULTS["all-well"], hardware=("GPU:0 (<script>alert(1)</script>\x1b[31m)",))
    written = page.render(hostile)
    assert "<script" not in written
    assert "\x1b" not in written


def test_nothing_was_measured():
    text = text_of(replace(RESULTS["interrupted"], measurements=(), hardware=(), versions={}))
    assert "Interrupted after 0 of 0 configurations" in text
    assert "Configurations" not in text
    assert ";;" not in text.replace(" ", "")
