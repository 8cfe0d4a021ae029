"""What a user writes, checked by mypy --strict and pyright: tests/test_types.py."""

from typing import assert_type

import gpucheck
from gpucheck.keras import Watch
from gpucheck.core.model import Diagnosis, Fix, Verdict
from gpucheck.core.probes.cuda import Cuda

report = gpucheck.check(level="quick", backend="jax", allow_cpu=True, timeout_seconds=30.0, strategies=("one_device",))
assert_type(report, gpucheck.Result)
assert_type(report.verdict, Verdict)
assert_type(report.findings, tuple[Diagnosis, ...])
assert_type(report.exit_code, int)
for finding in report.findings:
    assert_type(finding.fix, tuple[Fix, ...])
cuda = report.fact(Cuda)
if cuda is not None:
    assert_type(cuda.device_count, int | None)
try:
    assert_type(gpucheck.require(gpus=2, memory_gib=40.0), gpucheck.Result)
except gpucheck.NotReady as error:
    assert_type(error.report, gpucheck.Result)
    assert_type(error.repairs, tuple[str, ...])


def print_line(line: str) -> None:
    """Where Watch's lines go."""


watch = Watch(every_seconds=2.0, stall_seconds=30.0, stop_on_nan=True, say=print_line)
codes: list[str] = [event.code for event in watch.events]
gpucheck.check(level="deep")  # wrong
gpucheck.require(gpus="two")  # wrong
Watch(say=3)  # wrong
