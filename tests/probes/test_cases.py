"""The cases of tests/cases/probes: fake machines as files and programs, and the facts read from them."""

import functools

import case_files
import msgspec
import probe_cases
import pytest
import tiny_elf
from fakes import machine

FILES = sorted(path.stem for path in probe_cases.FOLDER.iterdir())


@pytest.mark.parametrize("probe", FILES)
def test_facts_match_their_cases(probe, request):
    if probe in ("libraries", "loader") and tiny_elf.CC is None:
        pytest.skip("no C compiler (cc) on PATH")
    path = probe_cases.FOLDER / f"{probe}.txt"
    cases = list(case_files.read(path))
    outcome = functools.partial(probe_cases.outcome, probe, first=cases[0] if probe == "libraries" else None)
    case_files.check(path, cases, outcome, request.config.getoption("--update-goldens"))


@pytest.mark.parametrize("probe", ["container", "device_nodes", "kernel_module", "pci", "system"])
def test_recorded_machine_gives_the_recorded_facts(probe):
    cases = case_files.read(probe_cases.FOLDER / f"{probe}.txt")
    (fact,) = [probe_cases.fact(probe, case) for case in cases if case.title == "Facts of the recorded H200 machine"]
    assert fact == msgspec.convert(machine("h200")[probe], type(fact))
