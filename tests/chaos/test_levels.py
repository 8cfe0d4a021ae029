"""A deeper level never reports less than a shallower one, and --quick reports environments as the import does."""

import itertools

import pytest
from lab.bench import DEFAULT, NO_SMOKE, QUICK
from lab.conftest import bench  # noqa: F401 - a fixture
from lab.test_faults import FAULTS

from gpucheck.core.engine.discovery import load_rules
from gpucheck.core.model import Scope

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]
# Findings that TensorFlow itself, or a passed training, disproves, and why.
DISPROVED = {
    "tensorflow-cpu-build": "TensorFlow says itself what it was built for; the lab changes only the name of its package",
    "host-memory-exhausted": "TensorFlow was imported with the memory that --quick calls too little; the lab's control group is not enforced",
}
LEVELS = QUICK, NO_SMOKE, DEFAULT  # `gpucheck node` has another scope
SCOPES = {rule.code: rule.scope for rule in load_rules()}
# Nothing outside shows it: the import ends, the loader misses a symbol, XLA rejects a flag, or a file is gone that no list is compared with.
ONLY_THE_IMPORT_SHOWS = (
    "import-killed-by-sigill",
    "import-killed-by-sigsegv",
    "import-killed-by-unknown-sender",
    "foreign-libcublas-first-tensorflow-imported",
    "foreign-libstdc++-first-tensorflow-imported",
    "nvjitlink-older-than-cusparse",
    "unknown-xla-flag-tensorflow-imported",
    "keras-partially-removed",
)
# Training on the fake driver's GPUs never ends; where a busy machine has not imported TensorFlow by then, the longer time counts.
SHORT, LONG = ("--timeout", "15"), ("--timeout", "60")


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.level in LEVELS[:-1]], ids=lambda fault: fault.name)
def test_a_deeper_level_never_says_less(fault, bench):  # noqa: F811
    levels = LEVELS[LEVELS.index(fault.level) :]
    said = [found(bench, fault, level, LONG if level == NO_SMOKE else SHORT) for level in levels]
    if said_less(said):
        said[-1] = found(bench, fault, levels[-1], LONG)
    assert said_less(said) == [], said


def found(bench, fault, level, limit):  # noqa: F811
    """Each finding's severity, by its code."""
    result = bench.run(fault._replace(level=level, args=(*fault.args, *limit)))
    if result.skipped or not result.report:
        pytest.skip(result.skipped or "no report to compare: test_faults.py judges it")
    return {finding["code"]: finding["severity"] for finding in result.report["findings"]}


def said_less(said):
    """Return findings that the next level omits, or reports only as a warning."""
    return [
        code
        for shallow, deep in itertools.pairwise(said)
        for code, severity in shallow.items()
        if code not in DISPROVED and (code not in deep or (severity, deep[code]) == ("error", "warning"))
    ]


def of_the_environment(fault):
    scopes = {SCOPES[code] for code in fault.expected}
    return fault.level == NO_SMOKE and scopes == {Scope.ENVIRONMENT} and fault.name not in ONLY_THE_IMPORT_SHOWS


@pytest.mark.parametrize("fault", list(filter(of_the_environment, FAULTS)), ids=lambda fault: fault.name)
def test_environment_problems_are_found_without_an_import(fault, bench):  # noqa: F811
    report = bench.run(fault._replace(level=QUICK)).report
    assert report["findings"][0]["code"] in fault.expected
