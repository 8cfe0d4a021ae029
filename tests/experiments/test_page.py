"""docs/experiments.md: a section for every experiment; their own tests hold its figures against what they give."""

from experiments.page import explained, sections

from gpucheck.core.processes.exhaustion import NAME
from gpucheck.core.training.experiments import names


def test_every_experiment_has_its_section():
    assert sorted(sections()) == sorted([*names(), NAME, "repeated_computations"])


def test_every_section_says_what_makes_it_fail():
    assert [name for name, text in sections().items() if "\nFails " not in text] == []


def test_every_section_explains_figures():
    assert [name for name in sections() if not explained(name)] == []
