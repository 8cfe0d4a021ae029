"""The examples of docs/expectations.md are valid."""

import pathlib
import re

from gpucheck.cli.settings import KEYS
from gpucheck.core.expectations import read
from gpucheck.core.model import Expectations

TEXT = (pathlib.Path(__file__).parents[2] / "docs" / "expectations.md").read_text()


def test_example_file_is_valid():
    (text,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    got = read.parse(text, "expectations.md")
    assert got.gpu.count == 8
    assert got.training.min_samples_per_second["mirrored"] == {"float32": 20000}


def test_every_setting_is_documented():
    assert [key for key in KEYS if f"`{key}" not in TEXT] == []


def test_every_key_is_documented():
    names = [f"{part}.{name}" for part in ("gpu", "versions", "training") for name in fields(part)]
    assert len(names) > 10
    assert [name for name in names if name.partition(".")[2] not in TEXT] == []


def fields(part):
    return getattr(Expectations(), part).__struct_fields__
