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
    "tensorflow-cpu-build": "TensorFlow reports what it was built for; the lab changes only the name of its package",
    "host-memory-exhausted": "TensorFlow was imported with the amount of memory that --quick reports as too little; the lab's control group is not enforced",
}
LEVELS = QUICK, NO_SMOKE, DEFAULT  # `gpucheck node` has another scope
SCOPES = {rule.code: rule.scope for rule in load_rules()}
# Only the import can show these: the process ends, a symbol is missing, XLA rejects a flag, or a file that --quick doesn't check is missing.
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
# Training on the fake driver's GPUs never ends; the longer limit is for a busy machine that hasn't imported TensorFlow by the shorter one.
SHORT, LONG = ("--timeout", "15"), ("--timeout", "60")


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.level in LEVELS[:-1]], ids=lambda fault: fault.name)
def test_deeper_level_never_reports_less(fault, bench):  # noqa: F811
    levels = LEVELS[LEVELS.index(fault.level) :]
    reported = [found(bench, fault, level, LONG if level == NO_SMOKE else SHORT) for level in levels]
    if findings_lost(reported):
        reported[-1] = found(bench, fault, levels[-1], LONG)
    assert findings_lost(reported) == [], reported


def found(bench, fault, level, limit):  # noqa: F811
    """Each finding's severity, by its code."""
    result = bench.run(fault._replace(level=level, args=(*fault.args, *limit)))
    if result.skipped or not result.report:
        pytest.skip(result.skipped or "no report to compare: test_faults.py judges it")
    return {finding["code"]: finding["severity"] for finding in result.report["findings"]}


def findings_lost(reported):
    """Return findings that the next level omits, or reports only as a warning."""
    return [
        code
        for shallow, deep in itertools.pairwise(reported)
        for code, severity in shallow.items()
        if code not in DISPROVED and (code not in deep or (severity, deep[code]) == ("error", "warning"))
    ]


def is_environment_fault(fault):
    scopes = {SCOPES[code] for code in fault.expected}
    return fault.level == NO_SMOKE and scopes == {Scope.ENVIRONMENT} and fault.name not in ONLY_THE_IMPORT_SHOWS


@pytest.mark.parametrize("fault", list(filter(is_environment_fault, FAULTS)), ids=lambda fault: fault.name)
def test_quick_finds_the_environment_problems_that_the_import_shows(fault, bench):  # noqa: F811
    report = bench.run(fault._replace(level=QUICK)).report
    assert report["findings"][0]["code"] in fault.expected
