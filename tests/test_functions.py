"""The tables of tests/cases/functions.txt: what a function makes of its arguments, each row ``arguments -> result`` as JSON."""

import importlib
import json
import pathlib

import msgspec

TABLES = pathlib.Path(__file__).parent / "cases" / "functions.txt"


def rows():
    """The number of the line, the function, its arguments and its result."""
    for number, line in enumerate(TABLES.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("[gpucheck."):
            module, _, name = line.strip("[]").rpartition(".")
            function = getattr(importlib.import_module(module), name)
        elif line and not line.startswith("#"):
            arguments, _, result = line.rpartition(" -> ")
            yield number, function, tuples(json.loads(f"[{arguments}]")), json.loads(result)


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def plain(result):
    """As JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(list(result) if hasattr(result, "__next__") else result))


def test_functions_make_of_their_arguments_what_the_tables_say():
    wrong = [(number, function.__name__, plain(function(*arguments)), result) for number, function, arguments, result in rows()]
    assert [row for row in wrong if row[2] != row[3]] == []
