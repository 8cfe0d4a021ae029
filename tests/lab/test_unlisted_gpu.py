"""A GPU that TensorFlow does not list: the cause is named without training on the CPU, which would not test the GPU."""

import pytest
from lab.bench import DEFAULT
from lab.faults import faults

pytestmark = [pytest.mark.lab_chosen, pytest.mark.tensorflow]
(FAULT,) = (fault for fault in faults() if fault.name == "clean-2.21.0-with-and-cuda")


@pytest.mark.parametrize(("args", "trained"), [((), False), (("--strategy", "one_device"), True), (("--allow-cpu",), True)])
def test_cpu_trains_only_on_request(bench, args, trained):
    result = bench.run(FAULT._replace(level=DEFAULT, args=args))
    assert (result.named, result.problems) == ("cuda-libraries-unreachable", ())
    assert any(run["status"] == "passed" for run in result.report["training"]) is trained
