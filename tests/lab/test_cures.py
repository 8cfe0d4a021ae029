"""`make cures`: the first repair of each fault, typed as printed, cures it if a user can type it."""

import pytest
from lab.bench import QUICK, Unavailable
from lab.cures import TYPED_BY_A_USER, cure
from lab.faults import faults

from gpucheck.core.engine.discovery import load_rules

pytestmark = pytest.mark.lab_chosen
# The results of the others, and why.
ONLY_ITS_NAME = "the wheel of the older TensorFlow has the code and requirements of the installed one"
NO_PYTHON = "another Python is downloaded for a separate environment"
NO_WHEEL = "no wheel has kernels for it; NVIDIA's image has"
IN_A_PROGRAM = (
    "loss-becomes-nan",
    "loss-does-not-fall",
    "convolutions-fall-back-to-another-device",
    "gradients-become-nan-in-the-last-step",
    "input-pipeline-that-is-slow",
    "all-reduce-fails",
    "all-reduce-never-ends",
    "workers-fed-the-same-data",
    "worker-killed-in-step-5",
    "worker-0-killed-in-step-5",
    "worker-raises-in-step-5",
    "worker-exits-in-step-5",
    "worker-exits-with-status-0-in-step-5",
    "worker-killed-before-connecting",
)
DOWNLOADED = ("backend-jax-requested-but-not-installed", "legacy-keras-selected-but-not-installed")  # by `make cuda-wheels`
EXPLAINED = {
    **dict.fromkeys(IN_A_PROGRAM, ("words", "no command cures an error of a program or of a job of several workers")),
    "worker-with-another-tensorflow": ("left", "both workers share the environment: one of them only claims another version"),
    "import-killed-by-sigill": ("words", "the processor lacks what TensorFlow was compiled for: use another machine or build"),
    "import-killed-by-unknown-sender": ("look", "the sender of the signal is unknown"),
    "process-killed-in-the-first-step": ("words", "the reason for the end of the process is unknown"),
    "container-with-visible-devices-none": ("words", "a container's variables are set where it is started"),
    "backend-torch-requested-but-not-installed": ("left", "its build is only on PyTorch's own index, which the lab does not use"),
    "cuinit-34-stub-library": ("changed", "the fake driver is itself the stub here, and there is no other"),
    "compute-capability-3.7": ("words", "no release of TensorFlow that can be installed supports it"),
    "compute-capability-5.2": ("changed", ONLY_ITS_NAME),
    "old-gpu-next-to-a-new-one": ("words", "TensorFlow uses the new card, which the older release may not support"),
    "few-multiprocessors": ("words", "TensorFlow leaves a display card out on purpose"),
    "tensorflow-ignores-an-old-gpu": ("left", ONLY_ITS_NAME),
    "python-3.9-with-tensorflow-2.21": ("another Python", NO_PYTHON),
    "python-3.9-without-tensorflow": ("left", "pip does not run under a Python that only claims to be 3.9"),
    "python-3.15-without-tensorflow": ("another Python", NO_PYTHON),
    "compute-capability-12.0": ("image", NO_WHEEL),
    "gpu-too-new-with-kernel-cache-disabled": ("image", NO_WHEEL),
}


def cases():
    """Every fault of an environment or of code; `make test` has one for each diagnosis of variables, because its cure installs nothing."""
    typed = set()
    scopes = {rule.code: rule.scope for rule in load_rules()}
    for fault in faults():
        if fault.expected and all(scopes[code] in TYPED_BY_A_USER for code in fault.expected):
            installs = fault.build or fault.scenario or fault.level != QUICK or fault.name in {*EXPLAINED, *DOWNLOADED}
            slow = [pytest.mark.slow, pytest.mark.tensorflow] if installs or fault.expected in typed else []
            typed |= set() if slow else {fault.expected}
            yield pytest.param(fault, id=fault.name, marks=slow)


@pytest.mark.parametrize("fault", list(cases()))
def test_first_repair_cures_the_fault(fault, bench, record_property):
    try:
        result = cure(bench, fault)
    except Unavailable as error:
        pytest.skip(str(error))
    record_property("cure", (fault.name, result.code, result.outcome, result.after, result.typed))
    wanted, _ = EXPLAINED.get(fault.name, ("cured", ""))
    if result.outcome != wanted:
        message = f"{result.outcome}, not {wanted}: {result.after} by {result.typed!r}:\n{result.output[-2000:]}"
        pytest.fail(message, pytrace=False)
