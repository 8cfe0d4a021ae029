"""What experiments measured, with names and units; whole reports stand in the files of ``test_goldens.py``."""

import msgspec
from reports.builders import report
from reports.cases import SITUATIONS, situation

from gpucheck.core.model import Evidence, Experiment, Request
from gpucheck.core.reports import html, markdown, terminal
from gpucheck.core.reports.shared.evidence import evidence

LOOK = {"width": 80, "color": False, "ascii": False, "verbose": True}


def test_text_of_an_experiment_is_not_markup():
    hostile = Experiment(name="a|b", status="failed", reason="<b>*x*</b>\x1b[31m", devices=("<i>",), figures={"<u>_share": 0.5})
    made = msgspec.structs.replace(report("h200"), experiments=(hostile,))
    assert "\x1b" not in terminal.render(made, **LOOK)
    assert "<b>" not in markdown.render(made, facts=False)
    assert "<u>" not in html.render(made)
    assert "<i>" not in html.render(made)
    assert "experiments" not in terminal.render(report("h200"), **LOOK)
    assert "Experiments" not in markdown.render(report("h200")) + html.render(report("h200"))


def test_in_tables_and_as_evidence():
    made = situation(**SITUATIONS["experiments"])
    row = "| memory after clear | GPU:0 | failed: memory is not given back | least growth of a round 64 MiB |"
    assert row in markdown.render(made, facts=False).splitlines()
    assert "least growth of a round 64 MiB</td>" in html.render(made)
    seen = Evidence(fact="training", field="experiments[0].figures.jpeg_decode_seconds_per_sample", value=0.00042)
    assert evidence(seen, made).startswith("experiment input pipeline JPEG decode seconds per sample: ")


def test_a_soak_is_shown_without_being_asked_for_more():
    figures = {
        "computations": 42,
        "rounds": 298,
        "repeated_seconds": 301.3,
        "unavailable": 1,
        "highest_celsius": 71,
        "sm_clock_mhz": 1980,
    }
    soaked = Experiment(name="repeated_computations", status="passed", devices=("GPU:0",), figures=figures)
    look = {**LOOK, "verbose": False, "width": 120}
    for request, shown in ((Request(soak_minutes=5), True), (Request(), False)):
        made = msgspec.structs.replace(report("h200", request=request), experiments=(soaked,))
        line = "298 rounds of 42 computations, the same results each time; 1 not available on a device; at most 71 °C; SM clock 1,980 MHz"
        assert (line in " ".join(terminal.render(made, **look).split())) is shown
