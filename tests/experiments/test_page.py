"""docs/experiments.md has a section for every experiment; the tests of each experiment compare its figures with the page."""

from experiments.page import documented, sections

from gpucheck.core.probes._exhaustion import NAME
from gpucheck.core.training.experiments import names


def test_every_experiment_has_a_section():
    assert sorted(sections()) == sorted([*names(), NAME, "repeated_computations"])


def test_every_section_documents_what_fails_the_experiment():
    assert [name for name, text in sections().items() if "\nFails " not in text] == []


def test_every_section_documents_figures():
    assert [name for name in sections() if not documented(name)] == []
