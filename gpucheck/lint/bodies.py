"""What stands in a function's body, whether or not the trace followed a call of it: for those that are handed to others."""

import ast
from collections.abc import Iterator

from gpucheck.lint.names import canonical
from gpucheck.lint.values import Function, Name, Scope, Value

DEEPEST = 8  # functions that call functions


def used(target: Value | None, seen: tuple[int, ...] = ()) -> Iterator[Value]:
    """The values that a function of this file uses by name, those it names being functions of this file included.

    ``tf.io.read_file`` is one ``Name``. Nothing, where it is no function of this file.
    """
    if not isinstance(target, Function) or id(target.node) in seen or len(seen) > DEEPEST:
        return
    for node in ast.walk(target.node):
        if isinstance(node, ast.Attribute):
            if path := _path(node, target.closure):
                yield Name(path)
        elif isinstance(node, ast.Name):
            known = target.closure.get(node.id)
            if isinstance(known, Function):
                yield from used(known, (*seen, id(target.node)))
            elif known is not None:
                yield known


def _path(node: ast.Attribute, closure: Scope) -> str:
    """The canonical name of ``tf.math.add`` as written, or ""."""
    names: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    root = closure.get(inner.id) if isinstance(inner, ast.Name) else None
    return canonical(".".join([root.path, *reversed(names)])) if isinstance(root, Name) else ""
