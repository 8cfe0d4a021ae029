"""A deeper level never says less than a shallower one: every fault of the lab, at its own level and at the deeper ones."""

import itertools

import pytest
from lab.bench import DEFAULT, LEVELS
from lab.conftest import bench  # noqa: F401 - a fixture
from lab.test_faults import FAULTS

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]
# What TensorFlow itself, or a training that passed, shows to be otherwise than it looked from outside, and why.
DISPROVED = {
    "tensorflow-cpu-build": "TensorFlow says itself what it was built for; the lab changes only the name of its package",
}
SHORT = ("--timeout", "30")  # training on the fake driver's GPUs never ends


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.level != DEFAULT], ids=lambda fault: fault.name)
def test_a_deeper_level_never_says_less(fault, bench):  # noqa: F811
    said = []
    for level in LEVELS[LEVELS.index(fault.level) :]:
        result = bench.run(fault._replace(level=level, args=(*fault.args, *SHORT)))
        if result.skipped or not result.report:
            pytest.skip(result.skipped or "no report to compare: test_faults.py judges it")
        said.append({finding["code"]: finding["severity"] for finding in result.report["findings"]})
    for shallow, deep in itertools.pairwise(said):
        unsaid = shallow.keys() - deep.keys() - DISPROVED.keys()
        softened = {code for code, severity in shallow.items() if severity == "error" and deep.get(code) == "warning"}
        assert (unsaid, softened) == (set(), set()), said
