"""The values that a function of a file uses."""

import ast
from collections.abc import Iterator

from gpucheck.commands.lint.names import canonical
from gpucheck.commands.lint.values import Function, Name, Scope, Value

FUNCTION_DEPTH_MAX = 8  # nested calls of functions


def used_by(target: Value | None, outer: tuple[int, ...] = ()) -> Iterator[Value]:
    """Yield the values that a function of this file names, including those of other functions of this file that it names.

    ``tf.io.read_file`` is one ``Name``. Yields nothing if the target is not a function of this file.
    """
    if not isinstance(target, Function) or id(target.node) in outer or len(outer) > FUNCTION_DEPTH_MAX:
        return
    for node in ast.walk(target.node):
        if isinstance(node, ast.Attribute):
            if path := _dotted(node, target.closure):
                yield Name(path)
        elif isinstance(node, ast.Name):
            value_of_name = target.closure.get(node.id)
            if isinstance(value_of_name, Function):
                yield from used_by(value_of_name, (*outer, id(target.node)))
            elif value_of_name is not None:
                yield value_of_name


def _dotted(node: ast.Attribute, closure: Scope) -> str:
    """Return the canonical name of a dotted expression such as ``tf.math.add``, or ""."""
    names: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    root = closure.get(inner.id) if isinstance(inner, ast.Name) else None
    return canonical(".".join([root.path, *reversed(names)])) if isinstance(root, Name) else ""
