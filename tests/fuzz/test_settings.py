"""Arbitrary settings and expectations are read, or refused with their location."""

import contextlib
import pathlib

import click
from fuzz.inputs import Bounded, fuzzed, texts
from hypothesis import given

from gpucheck.cli import settings
from gpucheck.core.expectations.read import Problem, parse

SETTINGS = '[tool.gpucheck]\nlevel = "quick"\nallow-cpu = true\ntimeout = 12.5\nstrategy = ["mirrored", "one_device"]\npython = "x/python"\n'
EXPECTED = 'schema_version = 1\nmute = ["gpu-lost"]\n[gpu]\ncount = 8\nname = "NVIDIA H200"\n[versions]\ntensorflow = ">=2.16"\n[training]\nstrategies = ["mirrored"]\n'


@fuzzed
@given(texts(SETTINGS, f"{SETTINGS}[tool.gpucheck.expectations.gpu]\ncount = 1\n"))
def test_any_settings_are_read_or_refused(text):
    import tempfile

    with tempfile.TemporaryDirectory() as folder, Bounded():
        pathlib.Path(folder, "pyproject.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
        try:
            settings.collect({"GPUCHECK_TIMEOUT": text, "GPUCHECK_STRICT": text[:5], "GPUCHECK_STRATEGY": text}, folder)
            settings.collect({}, folder)
        except (click.ClickException, ValueError):
            pass


@fuzzed
@given(texts(EXPECTED))
def test_any_expectations_are_read_or_refused(text):
    with Bounded(), contextlib.suppress(Problem):
        parse(text, "expected.toml")
