"""Every kind of event that the code uses has a pattern."""

import ast
from collections.abc import Iterator
from pathlib import Path

import gpucheck
from gpucheck.core.logs.reading import patterns

CORE = Path(gpucheck.__file__).parent / "core"
# Calls of a log's causes whose text arguments are kinds of events; the first one of `Match`, and the last ones of a row of a table.
ASK = {"Match", "has", "of", "unresolved", "without_later_gpu_use"}


def kinds_used(tree: ast.Module, of_logs: bool) -> Iterator[tuple[int, str]]:
    """The line and the kind of each call and comparison; a constant of the module counts at each use.

    Args:
        tree: the module's syntax tree.
        of_logs: whether all of it is about events.
    """
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "saw_events" or (of_logs and name in ASK):
                values += node.args[:1] if name == "Match" else node.args
            elif name in ("always", "until_gpu_use"):
                values += node.args[2:]
            values += [word.value for word in node.keywords if word.arg in ("also_cite", "unless")]
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "kind":
            if not of_logs and not ast.unparse(node.left).endswith("event.kind"):
                continue
            values += node.comparators
        for value in values:
            value = value.value if isinstance(value, ast.Starred) else value
            value = constants.get(value.id, value) if isinstance(value, ast.Name) else value
            elements = value.elts if isinstance(value, (ast.Tuple, ast.Set, ast.List)) else [value]
            for element in elements:
                if isinstance(element, ast.Constant) and isinstance(element.value, str):
                    yield node.lineno, element.value


def test_every_kind_in_the_code_has_a_pattern() -> None:
    given = {pattern.kind for pattern in patterns.load((*patterns.TOPICS, "harmless", "suspects", "place"))}
    used_kinds = {
        (file.name, line, kind)
        for folder in ("combiners", "logs", "rules")
        for file in sorted((CORE / folder).rglob("*.py"))
        for line, kind in kinds_used(ast.parse(file.read_text(encoding="utf-8")), folder == "logs")
    }
    assert len(used_kinds) > 350
    assert sorted(found for found in used_kinds if found[2] not in given) == []
