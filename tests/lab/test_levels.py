"""A deeper level never says less than a shallower one: every fault of the lab, at all three levels."""

import pytest
from lab.bench import DEFAULT, NO_SMOKE, QUICK
from lab.test_faults import FAULTS

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]
# What TensorFlow itself, or a training that passed, shows to be otherwise than it looked from outside, and why.
DISPROVED: dict[str, str] = {}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_deeper_level_never_says_less(fault, bench):
    said = {}
    for level in (QUICK, NO_SMOKE, DEFAULT):
        result = bench.run(fault._replace(level=level))
        if result.skipped or not result.report:
            pytest.skip(result.skipped or "no report to compare: test_faults.py judges it")
        said[level] = {finding["code"]: finding["severity"] for finding in result.report["findings"]}
    for shallow, deep in ((QUICK, NO_SMOKE), (NO_SMOKE, DEFAULT)):
        unsaid = said[shallow].keys() - said[deep].keys() - DISPROVED.keys()
        softened = {code for code, severity in said[shallow].items() if severity == "error" and said[deep].get(code) == "warning"}
        assert (unsaid, softened) == (set(), set()), said
