"""Paths and names in the tools exist."""

import pathlib

from mutants import AREAS

ROOT = pathlib.Path(__file__).parents[1]


def test_paths_of_mutants_exist():
    assert [pattern for patterns in AREAS.values() for pattern in patterns if not any(ROOT.glob(pattern))] == []
