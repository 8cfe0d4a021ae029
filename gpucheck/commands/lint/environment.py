"""Helpers for rules: environment variables that a script sets, and its checks of versions."""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpucheck.commands.lint.lookup import constant, is_call, parts
from gpucheck.commands.lint.values import Call, Constant, Event, Name, Operation, Pairs, Store, Test, Value

VERSIONS = re.compile(r"(tensorflow|keras)\.(\w+\.)*(__version__|VERSION|GIT_VERSION|version|executing_eagerly)(\.\w+)*")
PACKAGES = re.compile(r"tensorflow[\w-]*|tf[_-]keras|keras")
# TensorFlow 1, chosen in Colab or installed by a cell of a notebook; a test that is skipped with some versions.
PINNED = re.compile(
    r"\bskip(?:if|If|Unless)\([^\n]{0,200}(?:__version__|\b(?:IS_|HAS_)?TF_?[12])|^\s*(?:%tensorflow_version\s+1|[%!]\s*(?:pip3?|conda)\s+install\b.*\btensorflow(?:-gpu|-cpu)?\s*==?\s*1\.)",
    re.MULTILINE,
)
# Text that names Keras 2 or a TensorFlow version that includes it: tensorflow==2.15, TensorFlow 2.4, tf-keras.
OLDER = re.compile(
    r"(?:tensorflow|\btf)[\w\[\] \t-]{0,20}?[ \t:`\"'=~<>(v]{0,6}(?:1\.[\dx]|2\.(?:1[0-5]|\d)(?!\d))"
    r"|tensorflow\S*[ \t]*<[ \t]*=?[ \t]*2\.1[0-6]|\bkeras[ \t-]*[=~<]*[ \t]*2\b|\bkeras[ \t]*<[ \t]*3(?:\.0)*(?![.\d])"
    r"|tf[_-]keras|TF_USE_LEGACY_KERAS",
    re.IGNORECASE,
)
# A project's variable for the version: IS_TF_1, tf2, TF_V2, tensorflow1, tf_version.
FLAG = re.compile(r"(^|_)(tf|tensorflow)_?(v?[12](?![0-9])|ver)", re.IGNORECASE)
# Modules that run a function in a new process, where TensorFlow is not initialized yet.
WORKERS = {"joblib", "loky", "ray", "dask", "distributed", "pyspark", "multiprocess", "pathos", "billiard", "submitit", "mpi4py"}


class Setting(NamedTuple):
    """A variable that the script sets for itself and its children."""

    event: Store | Call
    name: str
    value: Value


def settings(events: Iterable[Event]) -> Iterator[Setting]:
    """Yield every environment variable that the script sets, in order."""
    for event in events:
        if isinstance(event, (Store, Call)):
            for key, value in _assigned(event):
                name = constant(key)
                if isinstance(name, str):
                    yield Setting(event, name, value)


def _assigned(event: Store | Call) -> Iterable[tuple[Value, Value]]:
    """Return the variables that an event sets, and their values."""
    if isinstance(event, Store):
        if isinstance(event.of, Name) and event.of.path == "os.environ":
            return [(event.key, event.value)]
        if isinstance(event.of, Name) and event.of.path == "os" and constant(event.key) == "environ":
            return _pairs(event.value.parts if isinstance(event.value, Operation) else ())  # os.environ |= {...}
    elif event.name in ("os.environ.setdefault", "os.putenv") and len(event.args) == 2:
        return [(event.args[0], event.args[1])]
    elif event.name == "os.environ.update":
        return [*_pairs(event.args), *((Constant(name), value) for name, value in event.keywords.items())]
    return []


def _pairs(values: Iterable[Value]) -> list[tuple[Value, Value]]:
    return [pair for value in values if isinstance(value, Pairs) for pair in value.items]


def checks_versions(written: str, tests: Iterable[Test]) -> bool:
    """Whether a condition depends on TensorFlow's or Keras' version, or on whether they have an attribute.

    A script with this condition supports several versions; the condition may be far from the call in question. The same holds
    for one that installs TensorFlow 1.
    """
    pinned = PINNED.search(written) is not None
    return pinned or any(_checks_version(test.value) or _checks_flag(test.node) for test in tests)


def _checks_version(condition: Value) -> bool:
    for part in parts(condition, lambda call: True):
        if isinstance(part, Name) and VERSIONS.fullmatch(part.path):
            return True
        if is_call(part, "importlib.metadata.version") and part.args and PACKAGES.fullmatch(str(constant(part.args[0]))):
            return True
        owner = part.args[0] if is_call(part, "builtins.hasattr", "inspect.signature") and part.args else None
        if any(isinstance(part, Name) and part.path.startswith(("tensorflow", "keras")) for part in parts(owner)):
            return True
    return False


def _checks_flag(condition: ast.AST) -> bool:
    names = [node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in ast.walk(condition)]
    return any(FLAG.search(name) for name in names)
