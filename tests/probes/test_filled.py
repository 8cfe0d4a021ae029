"""Every field of every fact is filled, so that a field whose query was removed is detected.

Fields from the driver must come from the compiled fake driver, through the real child, with a value other than the default.
Fields that need a framework, a cluster or other hardware are not observed here: some code must set them.
"""

import ast
import functools
import os
import pathlib
import sys
import typing

import msgspec
import pytest

import gpucheck
from gpucheck.core.engine.recorded import fact_types
from gpucheck.core.probes import cuda, driver, gpus

PACKAGE = pathlib.Path(gpucheck.__file__).parent
DRIVER = (cuda, driver, gpus)
# Fields that a single healthy GPU leaves at their defaults.
SCENARIOS = (
    {
        "gpus": 2,
        "gpu.0.nvlinks": 2,
        "gpu.0.recovery_action": 0,
        "gpu.0.processes": f"{os.getpid()}:4096",
        "gpu.0.retired_pages_pending": 1,
        "gpu.1.mig_enabled": 1,
        "gpu.1.mig_devices": 3,
    },
    {"gpus": 2, "gpu.0.lost": 1, "gpu.1.peer_access": 0},
    {"nvmlInit_v2": 9, "cuInit": 100},
)
UNFILLED = {
    "Driver.nvidia_smi": "the fake driver has no nvidia-smi; tests/cases/probes/driver.txt has one",
}
MAKERS = {"replace", "kind", "failed"}  # functions that fill structs of any class


def structs_in(hint):
    """Yield every struct in a type."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
        for inner in typing.get_type_hints(hint).values():
            yield from structs_in(inner)
    for part in typing.get_args(hint):
        yield from structs_in(part)


def defaults(kind):
    """Yield the fields with a default, and the default."""
    for field in msgspec.structs.fields(kind):
        if not field.required:
            yield field.name, field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def filled_in(value):
    """Yield the struct and the name of each field in a value that differs from its default."""
    if isinstance(value, msgspec.Struct):
        for name, default in defaults(type(value)):
            if getattr(value, name) != default:
                yield type(value), name
        for name in value.__struct_fields__:
            yield from filled_in(getattr(value, name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from filled_in(item)


@functools.cache
def set_in_code():
    """The fields set by our code: keyword arguments of functions or classes, and attributes."""
    found = set()
    for node in (node for file in PACKAGE.rglob("*.py") for node in ast.walk(ast.parse(file.read_text()))):
        if isinstance(node, ast.Call):
            callee = getattr(node.func, "attr", getattr(node.func, "id", None))
            found |= {(callee, keyword.arg) for keyword in node.keywords}
        elif isinstance(node, ast.Dict):  # passed with **
            found |= {("replace", key.value) for key in node.keys if isinstance(key, ast.Constant)}
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(("replace", node.attr))
    return found


def is_set(kind, name):
    """Whether some code sets a field of a struct, of a base class with this field, or of any struct."""
    classes = {base.__name__ for base in kind.__mro__ if name in getattr(base, "__annotations__", ())}
    return any((callee, name) in set_in_code() for callee in {kind.__name__, *classes, *MAKERS})


def unfilled(fact, filled=None):
    """Names such as 'Gpu.uuid' of fields of a fact and its parts that are not in ``filled``, or that no code sets."""
    fields = [(kind, name) for kind in dict.fromkeys(structs_in(fact)) for name, _ in defaults(kind)]
    return {
        f"{kind.__name__}.{name}"
        for kind, name in fields
        if not (is_set(kind, name) if filled is None else (kind, name) in filled)
    }


@pytest.mark.skipif(sys.platform != "linux", reason="the fake driver is built for Linux")
def test_every_field_from_the_driver_is_filled(driver_host):
    filled = set()
    for lines in SCENARIOS:
        with driver_host(lines) as host:
            filled.update(field for module in DRIVER for field in filled_in(module.read(host)))
    left = {field for module in DRIVER for field in unfilled(typing.get_type_hints(module.read)["return"], filled)}
    assert left == UNFILLED.keys()


@pytest.mark.parametrize("probe", sorted(fact_types().keys() - {"request", "cuda", "driver", "gpus"}))
def test_every_field_is_set_by_some_code(probe):
    assert unfilled(fact_types()[probe]) == set()
