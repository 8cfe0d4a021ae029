"""A training job did not meet an expectation: to pass, to reach a speed, or to start within a time limit.

Symptom:
    - gpucheck --expect expected.toml: one_device in float32: 1,830 samples/s, expected at least 2,920 samples/s.
    - gpucheck --expect expected.toml: the first step takes 38 s, expected at most 10 s
Cause:
    The same hardware is slower than before: it is throttled or shared, or has a narrower link or fewer processors. Or the
    software changed: different kernels, none for this GPU (the first step then compiles them), or another version of XLA.
Verify:
    gpucheck --expect expected.toml: "Ready".
Unless:
    The machine was measured while it was idle and is now shared on purpose: lower the minimum.
Example:
    request.expectations.training.min_samples_per_second = {"one_device": {"float32": 9000}}
    -> Strategy one_device in float32: 3,650 samples/s, expected at least 9,000 samples/s.
References:
    https://www.tensorflow.org/guide/gpu_performance_analysis
"""

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.expectation._judge import SNAPSHOT, judge


@rule(scope=Scope.ENVIRONMENT)
def check(expected: Expected, context: Context) -> Finding | Skip | None:
    """Compare the training jobs: every job of a strategy must reach the expected speed, except those compiled by XLA."""
    return judge(expected, expected.training, ":", lambda unmet: repairs(context))


def repairs(context: Context) -> Fixes:
    """Measure on an idle machine, and compare; the same fix on every machine."""
    yield Fix(text="Run it again while nothing else uses the GPUs and the processors")
    yield SNAPSHOT
    yield Fix.look("List what changed since it was as expected", "gpucheck compare expected.toml")
