"""Helpers for rules: environment variables that a script sets, and its checks of versions."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from gpucheck.commands.lint.lookup import constant, is_call, parts
from gpucheck.commands.lint.script import Script
from gpucheck.commands.lint.values import Call, Name, Operation, Pairs, Store, Test, Value

VERSIONS = re.compile(r"(tensorflow|keras)\.(\w+\.)*(__version__|VERSION|GIT_VERSION|version|executing_eagerly)(\.\w+)*")
# A project's variable for the version: IS_TF_1, tf2, TF_V2, tensorflow1, tf_version.
FLAG = re.compile(r"(^|_)(tf|tensorflow)_?(v?[12](?![0-9])|ver)", re.IGNORECASE)
# Modules that run a function in a new process, where TensorFlow is not initialized yet.
WORKERS = {"joblib", "loky", "ray", "dask", "distributed", "pyspark", "multiprocess", "pathos", "billiard", "submitit", "mpi4py"}


class Setting(NamedTuple):
    """One variable that the script sets for itself and its children."""

    event: Store | Call
    name: str
    value: Value


def settings(script: Script) -> Iterator[Setting]:
    """Yield every environment variable that the script sets, in order."""
    for event in script.events:
        if isinstance(event, Store):
            yield from _stored(event)
        elif is_call(event, "os.environ.setdefault", "os.putenv") and len(event.args) == 2:
            yield from _named(event, event.args[0], event.args[1])
        elif is_call(event, "os.environ.update"):
            for given in event.args:
                yield from _pairs(event, given)
            for name, value in event.keywords.items():
                yield Setting(event, name, value)


def _stored(event: Store) -> Iterator[Setting]:
    if not isinstance(event.of, Name):
        return
    if event.of.path == "os.environ":
        yield from _named(event, event.key, event.value)
    elif event.of.path == "os" and constant(event.key) == "environ" and isinstance(event.value, Operation):
        for part in event.value.parts:  # os.environ |= {...}
            yield from _pairs(event, part)


def _pairs(event: Store | Call, given: Value) -> Iterator[Setting]:
    if isinstance(given, Pairs):
        for key, value in given.items:
            yield from _named(event, key, value)


def _named(event: Store | Call, key: Value, value: Value) -> Iterator[Setting]:
    name = constant(key)
    if isinstance(name, str):
        yield Setting(event, name, value)


def checks_versions(script: Script) -> bool:
    """Whether any condition depends on TensorFlow's or Keras' version, or on the presence of one of their attributes.

    Such a script supports more than one version, and its handling may be far from the call in question.
    """
    return any(isinstance(event, Test) and (_versioned(event.value) or _flags(event.node)) for event in script.events)


def _versioned(condition: Value) -> bool:
    for part in parts(condition, _given):
        if isinstance(part, Name) and VERSIONS.fullmatch(part.path):
            return True
        asked = part.args[0] if is_call(part, "builtins.hasattr") and part.args else None
        if any(isinstance(part, Name) and part.path.startswith(("tensorflow", "keras")) for part in parts(asked)):
            return True
    return False


def _given(value: Value) -> tuple[Value, ...]:
    return (value.function, value.receiver, *value.args) if isinstance(value, Call) else ()


def _flags(condition: ast.AST) -> bool:
    words = [node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in ast.walk(condition)]
    return any(FLAG.search(word) for word in words)


def has_attribute(script: Script, name: str) -> bool:
    """Whether the script checks anywhere if an object has an attribute of this name."""
    return any(
        len(call.args) > 1 and constant(call.args[1]) == name for call in script.named("builtins.hasattr", "builtins.getattr")
    )
