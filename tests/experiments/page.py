"""Compare the figures in docs/experiments.md with those of the experiments."""

import pathlib
import re

import pytest

import gpucheck

PAGE = pathlib.Path(gpucheck.__file__).resolve().parents[1] / "docs" / "experiments.md"


def sections():
    """The page's sections by the experiment that each is named after."""
    if not PAGE.parent.is_dir():
        pytest.skip("the docs are not part of an installed package")
    _, *parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {part.partition("\n")[0].strip("` "): part for part in parts}


def documented(experiment):
    """Names of the figures that the page documents for an experiment; numbers in names are written as N."""
    rows = re.findall(r"^\| (`.*?) \| ", sections()[experiment], flags=re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def differences(experiment, figures):
    """Figures that the page does not document, and documented figures that are missing."""
    given = {re.sub(r"_\d+_", "_N_", name) for name in figures}
    return sorted(documented(experiment) ^ given)
