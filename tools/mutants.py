"""Measure how many small faults in the code the tests detect: a fixed sample of mutants, each run against the given tests.

    python tools/mutants.py --per-area 20 -- tests/golden tests/rules tests/logs tests/test_pipeline.py

Works on a copy of the current commit. A mutant survives if all tests pass.
"""

import argparse
import ast
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

AREAS = {
    "rules": ["gpucheck/core/rules/**/*.py", "gpucheck/core/combiners/**/*.py"],
    "engine": ["gpucheck/core/engine/verdict.py", "gpucheck/core/engine/pipeline.py"],
    "ownership": ["gpucheck/core/system/ownership.py"],
    "logs": ["gpucheck/core/logs/**/*.py"],
    "lint": ["gpucheck/commands/lint/**/*.py"],
    "run": ["gpucheck/commands/run/**/*.py"],
    "cli": ["gpucheck/cli/**/*.py"],
}
COMPARISONS: dict[type, type] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change of one file: the index of the node in the walk, and the kind of change."""

    area: str
    file: str
    node: int
    kind: str
    line: int


def changes(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the possible changes of a node, which change it in place."""
    if isinstance(node, ast.Compare):
        yield "comparison", lambda: node.ops.__setitem__(0, COMPARISONS[type(node.ops[0])]())
    elif isinstance(node, ast.BoolOp):
        yield "and-or", lambda: setattr(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield "condition", lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "filter", lambda: node.ifs.pop()
    elif isinstance(node, ast.Return) and node.value is not None:
        yield "return", lambda: setattr(node, "value", ast.Constant(None))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "boolean", lambda: setattr(node, "value", not node.value)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "number", lambda: setattr(node, "value", node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        yield "text", lambda: setattr(node, "value", "changed")


def without_docstrings(tree: ast.Module) -> ast.Module:
    """Mark docstrings, which rules need, and annotations, which never run, so that they are not changed."""
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if isinstance(getattr(node, name, None), ast.AST):
                getattr(node, name).unchanged = True
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body[0].value.unchanged = True  # type: ignore[attr-defined]
    return tree


def nodes(tree: ast.Module) -> list[ast.AST]:
    """Return all nodes that may be changed, in a fixed order."""
    kept: list[ast.AST] = []

    def visit(node: ast.AST) -> None:
        if getattr(node, "unchanged", False):
            return
        kept.append(node)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(without_docstrings(tree))
    return kept


def candidates(root: pathlib.Path, area: str) -> list[Mutant]:
    """Return every mutant of an area's files."""
    found = []
    for path in sorted({path for pattern in AREAS[area] for path in root.glob(pattern)}):
        for place, node in enumerate(nodes(ast.parse(path.read_text()))):
            line = getattr(node, "lineno", 0)
            found += [Mutant(area, str(path.relative_to(root)), place, kind, line) for kind, _ in changes(node)]
    return found


def chosen(root: pathlib.Path, area: str, count: int, seed: int) -> list[Mutant]:
    """Return a sample from the whole area, with the same number of mutants of each kind."""
    draw = random.Random(f"{seed} {area}")  # noqa: S311
    kinds: dict[str, list[Mutant]] = {}
    for mutant in candidates(root, area):
        kinds.setdefault(mutant.kind, []).append(mutant)
    for mutants in kinds.values():
        draw.shuffle(mutants)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*(kinds[kind] for kind in sorted(kinds))))
    return list(itertools.islice((mutant for mutant in turns if mutant is not None), count))


def mutated(text: str, mutant: Mutant) -> str:
    """Return the text of the file with the change applied."""
    tree = ast.parse(text)
    (change,) = (change for kind, change in changes(nodes(tree)[mutant.node]) if kind == mutant.kind)
    change()
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def passes(root: pathlib.Path, tests: list[str]) -> bool:
    """Whether the tests pass in the copy."""
    argv = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not tensorflow and not slow", *tests]
    env = {**os.environ, "PYTHONPATH": str(root)}
    try:
        return subprocess.run(argv, cwd=root, env=env, capture_output=True, timeout=900, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main() -> None:
    """Run the tests on each mutant; print the results and the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    parser.add_argument("--area", choices=AREAS, action="append")
    parser.add_argument("--per-area", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=options.repository, capture_output=True, check=True).stdout  # noqa: S607
        subprocess.run(["tar", "-x"], cwd=root, input=archive, check=True)  # noqa: S607
        if not passes(root, options.tests):
            sys.exit("the tests fail before anything is changed")
        for area in options.area or AREAS:
            noticed = tried = 0
            for mutant in chosen(root, area, options.per_area, options.seed):
                path = root / mutant.file
                text = path.read_text()
                path.write_text(mutated(text, mutant))
                tried += 1
                os.utime(
                    path, (time.time(), time.time() + 10 * tried)
                )  # otherwise Python may use a compiled file of the same second
                survived = passes(root, options.tests)
                path.write_text(text)
                os.utime(path, (time.time(), time.time() + 10 * tried + 5))
                noticed += not survived
                print(f"{'SURVIVED' if survived else 'noticed ':8} {mutant.kind:10} {mutant.file}:{mutant.line}", flush=True)
            print(f"{area}: {noticed} of {tried} noticed", flush=True)


if __name__ == "__main__":
    main()
