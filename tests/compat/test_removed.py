"""Removed APIs in exceptions, which the installed TensorFlow and Keras do not have."""

import pytest
from case_files import table
from in_tensorflow import MARKS, printed_by

from gpucheck.core.compat import removed

IN_TENSORFLOW = """
import functools, json, sys
import keras
import tensorflow as tf

def has(path):
    try:
        return functools.reduce(getattr, path.split(".")[1:], {"tensorflow": tf, "keras": keras}[path.split(".")[0]]) is not None
    except AttributeError:
        return False

print(json.dumps([path for path in sys.argv[1:] if has(path)]))
"""


@table
def test_attribute_is_found_by_the_owner_in_the_message(owner, name, missing, page):
    found = removed.attribute(owner, name)
    assert (found and (found.name, found.page)) == ((missing, page) if missing else None)


def _marked(test):
    for mark in MARKS:
        test = mark(test)
    return test


@pytest.mark.slow
@_marked
def test_removed_names_are_missing_from_tensorflow():
    names = [*removed.FUNCTIONS, *removed.SESSIONS, *removed.KERAS_REMOVED, *(f"tensorflow.{name}" for name in removed.MODULES)]
    names += [f"keras.Model.{name}" for name in removed.MODEL_METHODS]
    assert printed_by(IN_TENSORFLOW, *names, "tensorflow.train.Checkpoint") == ["tensorflow.train.Checkpoint"]


@pytest.mark.slow
@_marked
def test_successors_exist_in_tensorflow():
    successors = {word.rstrip(",)").partition("(")[0] for text in removed.FUNCTIONS.values() for word in text.split()}
    names = [name.replace("tf.", "tensorflow.", 1) for name in successors if name.startswith(("tf.", "keras."))]
    assert sorted(printed_by(IN_TENSORFLOW, *names)) == sorted(names)
