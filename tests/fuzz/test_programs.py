"""Arbitrary programs and notebooks are checked for mistakes, or refused with the reason."""

import json
import pathlib
import re
import tempfile

from fuzz.inputs import Bounded, changed, fuzzed
from hypothesis import given
from hypothesis import strategies as st

from gpucheck.commands.lint.pages import load_rules
from gpucheck.commands.lint.reports import render
from gpucheck.commands.lint.runner import lint

PROGRAM = b"""import tensorflow as tf
s = tf.distribute.MirroredStrategy()
with s.scope():
    m = tf.keras.Sequential([tf.keras.layers.Dense(1)])
m.compile("sgd", "mse")
m.fit(tf.data.Dataset.range(8).batch(2).prefetch(1), epochs=2)
"""
CELL = {
    "cell_type": "code",
    "source": ["%pip install x\n", *PROGRAM.decode().splitlines(keepends=True)],
    "outputs": [],
    "metadata": {},
}
NOTEBOOK = json.dumps(
    {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CELL, {"cell_type": "markdown", "source": "x"}]}
).encode()
RULES = load_rules()


def checked(name, data):
    with tempfile.TemporaryDirectory() as folder, Bounded():
        pathlib.Path(folder, name).write_bytes(data)
        result = lint([folder], RULES)
        json.loads(render(result, "json"))
        for style in ("terminal", "github"):  # neither has control characters
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", render(result, style)), style


@fuzzed
@given(changed(PROGRAM))
def test_any_program_is_checked(data):
    checked("train.py", data)


@fuzzed
@given(st.text("a\x1b\x9b\r\n\u202e:,% é", max_size=10))
def test_any_file_name_is_checked(name):
    checked(f"{name}.py", b"(")


@fuzzed
@given(changed(NOTEBOOK))
def test_any_notebook_is_checked(data):
    checked("train.ipynb", data)
