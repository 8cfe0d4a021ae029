"""Every fault of tests/cases/lab, injected: its root cause is named first, with the right exit code, and nothing is left running."""

import pytest
from lab.bench import LEVELS, NODE, QUICK
from lab.faults import faults

from gpucheck.core.compat.xid import XIDS

pytestmark = pytest.mark.lab_chosen  # together they take too long for `make test`
FAULTS = list(faults())
OF_CATALOGUE = {  # actions that gpucheck's table has; it omits workflows and contacts
    "IGNORE": "ignore",
    "RESTART_APP": "restart-application",
    "RESET_GPU": "reset-gpu",
    "RESTART_VM": "reboot",
    "RESTART_BM": "power-cycle",
    "CHECK_MECHANICALS": "service",
}


def cases():
    """Every fault; the cheapest one of each code runs in `make lab-chosen`, the others in `make test-all`."""
    chosen = {}
    for fault in sorted(FAULTS, key=lambda fault: LEVELS.index(fault.level)):
        chosen.setdefault((fault.expected, fault.level == NODE), fault.name)
    for fault in FAULTS:
        marks = [] if fault.level in (QUICK, NODE) else [pytest.mark.tensorflow]
        if fault.name not in chosen.values() and fault.nvidia is None:
            marks.append(pytest.mark.slow)
        yield pytest.param(fault, id=fault.name, marks=marks)


@pytest.mark.parametrize("fault", list(cases()))
def test_root_cause_is_named(fault, bench, record_property):
    result = bench.run(fault)
    expected = " | ".join(fault.expected) or "(no error)"
    outcome = "skipped" if result.skipped else "WRONG" if result.problems else ""
    code = "-" if result.exit is None else result.exit
    record_property("fault", (fault.name, expected[:34], result.named, code, f"{result.seconds:.2f}", outcome))
    if result.skipped:
        pytest.skip(result.skipped)
    if result.problems:
        pytest.fail("\n".join(result.problems), pytrace=False)


@pytest.mark.parametrize(
    "fault",
    [fault for fault in FAULTS if fault.name.startswith("xid-") and fault.nvidia in OF_CATALOGUE],
    ids=lambda fault: fault.name,
)
def test_action_of_an_xid_matches_the_catalog(fault):
    code = int(fault.name.split("-")[1])
    assert XIDS[code].action == OF_CATALOGUE[fault.nvidia]


def test_there_are_at_least_60_faults_with_unique_names():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert sum(bool(fault.expected) for fault in FAULTS) >= 60
