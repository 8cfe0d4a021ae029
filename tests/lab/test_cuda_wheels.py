"""NVIDIA's own wheels under the fake driver: faults of libraries and packages are named and cured by the first repair, as with stubs."""

import pytest
from lab.bench import DEFAULT, Unavailable
from lab.cures import cure
from lab.faults import faults
from lab.test_cures import EXPLAINED

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]
FAULTS = [fault for fault in faults(("libraries", "packages")) if fault.level != DEFAULT and not fault.machine]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_root_cause_is_named_and_cured_by_the_first_repair(fault, cuda_bench, record_property):
    result = cuda_bench.run(fault)
    assert not result.problems, "\n".join(result.problems)
    if not fault.expected:
        return
    try:
        cure_result = cure(cuda_bench, fault)
    except Unavailable as error:
        pytest.skip(str(error))
    record_property("cure", (fault.name, cure_result.code, cure_result.outcome, cure_result.after, cure_result.typed))
    wanted, _ = EXPLAINED.get(fault.name, ("cured", ""))
    assert cure_result.outcome == wanted, f"{cure_result.after} by {cure_result.typed!r}:\n{cure_result.output[-2000:]}"
