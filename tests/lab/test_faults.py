"""Every fault of tests/lab/faults, injected: its root cause is named first, with the right exit code, and nothing is left."""

import importlib
import pathlib

import pytest
from lab.bench import QUICK

FILES = sorted(path.stem for path in (pathlib.Path(__file__).parent / "faults").glob("*.py") if path.stem != "__init__")
FAULTS = [fault for name in FILES for fault in importlib.import_module(f"lab.faults.{name}").FAULTS]


def cases():
    for fault in FAULTS:
        yield pytest.param(fault, id=fault.name, marks=() if fault.level == QUICK else pytest.mark.tensorflow)


@pytest.mark.parametrize("fault", list(cases()))
def test_the_root_cause_is_named(fault, result):
    if result.skipped:
        pytest.skip(result.skipped)
    if result.problems:
        pytest.fail("\n".join(result.problems), pytrace=False)


def test_there_are_enough_of_them_and_each_has_its_name():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert sum(bool(fault.expected) for fault in FAULTS) >= 60
