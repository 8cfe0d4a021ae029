"""Names that a program uses but never binds: a sample without its imports. ``tf`` is certainly TensorFlow there."""

import ast
import re
from collections.abc import Iterator

MEANINGS = {"tf": "tensorflow", "keras": "keras", "np": "numpy", "multi_gpu_model": "keras.utils.multi_gpu_model"}
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
# Ways to bind names that the tree does not show.
_HIDDEN = re.compile(r"\b(exec|eval|globals|execfile|run_path|get_ipython)\(|^\s*%(run|load|pylab|store)", re.MULTILINE)


def unbound(tree: ast.Module, written: str) -> frozenset[str]:
    """Return the names of ``MEANINGS`` that no scope of the file binds; none if it may bind names in a hidden way."""
    nodes = list(ast.walk(tree))
    if _HIDDEN.search(written) or any(isinstance(node, ast.alias) and node.name == "*" for node in nodes):
        return frozenset()
    return frozenset(MEANINGS).difference(_bound(nodes))


def _bound(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield every name that any scope of the file binds."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, _NAMED) and node.name:
            yield node.name
