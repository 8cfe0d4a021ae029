"""Arbitrary reports are replayed and printed in every format, or refused."""

import importlib
import json

from fakes import machine
from fuzz.inputs import Bounded, changed, fuzzed
from hypothesis import given
from hypothesis import strategies as st

from gpucheck.cli.formats import FORMATS
from gpucheck.core.engine.recorded import Unreadable, replay
from gpucheck.core.reports.redaction import redact

REPORTS = [
    json.dumps({"schema_version": "1.0", "facts": machine(name), "probes": [{"name": "gpus"}]}).encode()
    for name in ("laptop-cpu", "h200", "tpu-v5e")
]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(1 << 70), 1 << 70), st.floats(), st.text(max_size=20), st.just([]), st.just({})
)


def judged(text):
    with Bounded():
        try:
            report = replay(text)
        except Unreadable:
            return
        for name in FORMATS:
            screen = {"verbose": True, "width": 80, "color": False, "ascii": False} if name == "terminal" else {}
            printed = importlib.import_module(f"gpucheck.core.reports.{name}").render(
                redact(report) if name == "markdown" else report, **screen
            )
            printed.encode()


@fuzzed
@given(changed(*REPORTS))
def test_any_report_is_replayed_or_refused(text):
    judged(text)


@fuzzed
@given(st.integers(0, 2), st.data())
def test_any_value_in_a_report_is_replayed_or_refused(number, data):
    report = json.loads(REPORTS[number])
    for _ in range(data.draw(st.integers(1, 4))):
        place, key = report, "facts"
        while isinstance(place[key], (dict, list)) and place[key] and data.draw(st.integers(0, 9)):
            place = place[key]
            key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else range(len(place))))
        place[key] = data.draw(VALUES)
    judged(json.dumps(report).encode())
