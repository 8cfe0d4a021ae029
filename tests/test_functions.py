"""The tables of tests/cases/functions.txt: a function's arguments and its result as JSON, or part of an error message.

0 -> "0 B"
"gpu = 3", "f.toml" -> error "expected a table"
"""

import importlib
import json
import pathlib
import re

import msgspec

TABLES = pathlib.Path(__file__).parent / "cases" / "functions.txt"


def rows():
    """Yield the line number, the function, its arguments, and its result or part of its error message."""
    for number, line in enumerate(TABLES.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("[gpucheck."):
            module, _, name = line.strip("[]").rpartition(".")
            function = getattr(importlib.import_module(module), name)
        elif line and not line.startswith("#"):
            arguments, _, result = line.rpartition(" -> ")
            error = result.startswith("error ")
            yield number, function, tuples(json.loads(f"[{arguments}]")), json.loads(result.removeprefix("error ")), error


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def outcome(function, arguments, expected, error):
    """The result as JSON; for an error, the expected words if its message is one line with these words."""
    try:
        result = function(*arguments)
        plain = list(result) if hasattr(result, "__next__") else result
    except Exception as problem:  # each function has its own
        text = str(problem)
        return expected if error and expected in text and "\n" not in text else repr(problem)
    return msgspec.json.decode(msgspec.json.encode(plain))


def test_functions_return_the_results_in_the_tables():
    wrong = []
    for number, function, arguments, expected, error in rows():
        result = outcome(function, arguments, expected, error)
        if result != expected:
            wrong.append((number, function.__name__, result, expected))
    assert wrong == []


def test_every_table_belongs_to_a_test():
    here = pathlib.Path(__file__).parent
    for file in (here / "cases" / "tables").iterdir():
        folder = here if file.stem == "tests" else here / file.stem
        for module, test in re.findall(r"^\[(test_\w+)\.(test_\w+): ", file.read_text(encoding="utf-8"), re.MULTILINE):
            source = (folder / f"{module}.py").read_text(encoding="utf-8")
            assert "@table\n" in source, (file.name, module)
            assert f"def {test}(" in source, (file.name, module, test)
