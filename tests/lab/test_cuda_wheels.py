"""NVIDIA's own wheels under the fake driver: a fault of libraries or packages is named, and cured by the first repair, as with stubs."""

import pytest
from lab.bench import DEFAULT, Unavailable
from lab.cures import cure
from lab.faults import faults
from lab.test_cures import EXPLAINED

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]
FAULTS = [fault for fault in faults(("libraries", "packages")) if fault.level != DEFAULT and not fault.machine]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_root_cause_is_named_and_its_repair_cures(fault, cuda_bench, record_property):
    result = cuda_bench.run(fault)
    assert not result.problems, "\n".join(result.problems)
    if not fault.expected:
        return
    try:
        came = cure(cuda_bench, fault)
    except Unavailable as error:
        pytest.skip(str(error))
    record_property("cure", (fault.name, came.code, came.outcome, came.after, came.typed))
    wanted, _ = EXPLAINED.get(fault.name, ("cured", ""))
    assert came.outcome == wanted, f"{came.after} by {came.typed!r}:\n{came.output[-2000:]}"
