"""Values in words."""

import re

from case_files import table
from reports.builders import PASSED, report

from gpucheck.core.model import Evidence, Request
from gpucheck.core.probes.packages import Distribution
from gpucheck.core.reports import html, junit, markdown, nagios, prometheus, terminal
from gpucheck.core.reports.shared.evidence import evidence

MADE = report("h200")


def test_name_of_a_run_is_the_same_in_every_format():
    """Two workers with a device each, and eight logical devices."""
    two = {**PASSED, "strategy": "multi_worker_mirrored", "devices": ["CPU:0"] * 2, "replicas": 2, "workers": 2}
    eight = {**PASSED, "strategy": "mirrored", "devices": [f"CPU:{number}" for number in range(8)], "replicas": 8}
    late = {"status": "timed_out", "reason": "late"}
    made = report("laptop-cpu", [("training.runs", [two, eight, {**two, **late}])], request=Request(allow_cpu=True))
    look = {"width": 120, "color": False, "ascii": False, "verbose": True}
    texts = {
        "terminal": terminal.render(made, **look),
        "markdown": markdown.render(made, facts=False),
        "html": html.render(made).partition('id="facts"')[0],
        "prometheus": prometheus.render(made),
        "nagios": nagios.render(made),
        "junit": junit.render(made),
        "reasons": " ".join(made.unknown_because),
    }
    for name, text in texts.items():
        assert ("2 x CPU:0" if name == "prometheus" else "2 × CPU:0") in text, name
        assert "CPU:0-7" in text or name == "reasons"
        assert not re.search(r"CPU:0, ?(?:CPU:)?0|CPU:0\.\.\.|CPU:0 to", text), name
    assert "'multi_worker_mirrored 2 x CPU:0 float32 samples_per_second'" in texts["nagios"]


@table
def test_evidence_as_text(fact, field, value, text):
    assert evidence(Evidence(fact=fact, field=field, value=value), MADE) == text


def test_evidence_that_is_a_distribution():
    installed = [Distribution(name="tf", version="1", folder="/x")]
    assert evidence(Evidence(fact="packages", field="flavours", value=installed), MADE) == "packages flavours: tf"


def test_evidence_omits_site_packages_unless_verbose():
    folder = MADE.facts["packages"].tensorflow.folder
    item = Evidence(fact="libraries", field="loader", value=f"{folder}/tensorflow/x.so")
    assert evidence(item, MADE) == "libraries loader: …/tensorflow/x.so"
    assert evidence(item, MADE, verbose=True) == f"libraries loader: {folder}/tensorflow/x.so"
