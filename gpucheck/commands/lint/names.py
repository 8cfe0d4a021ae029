"""Canonical names, independent of how a file imports them: ``tf.keras.models.Sequential`` is ``keras.Sequential``.

The module also handles common names that a file uses without an import.
"""

import ast
import functools
import re
from collections.abc import Iterator

_SAME = (
    (re.compile(r"^(?:tensorflow\.(?:python\.(?!keras\.backend)|compat\.v2\.)?keras|tf_keras|keras_core)(?=\.|$)"), "keras"),
    (re.compile(r"^tensorflow\.compat\.v2(?=\.|$)"), "tensorflow"),
    (re.compile(r"^(tensorflow\.distribute)\.experimental\.(?=\w+Strategy$)"), r"\1."),
    (re.compile(r"^(tensorflow\.config)\.experimental\.(?=list_|set_visible|set_memory|set_virtual|get_)"), r"\1."),
    (re.compile(r"^(tensorflow\.data)\.experimental\.(?=AUTOTUNE$)"), r"\1."),
    (re.compile(r"^keras\.(?:models|engine\.\w+|engine|src\.models\.\w+)\.(?=(?:Sequential|Model|Functional)$)"), "keras."),
    (re.compile(r"^keras\.(?:layers|engine)\.Input$"), "keras.Input"),
    (re.compile(r"^tensorflow\.(?=(?:initializers|losses|metrics|optimizers)\.)"), "keras."),
    (re.compile(r"^keras\.saving\.load_model$"), "keras.models.load_model"),
    (re.compile(r"^keras\.mixed_precision\.experimental\."), "keras.mixed_precision."),
    (re.compile(r"^keras\.(?:optimizers\.(?:legacy|experimental|schedules)|optimizers_v[12]\.\w+)\."), "keras.optimizers."),
)
MEANINGS = {"tf": "tensorflow", "keras": "keras", "np": "numpy", "multi_gpu_model": "keras.utils.multi_gpu_model"}
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
# Ways to bind names that are not visible in the syntax tree.
_HIDDEN = re.compile(r"\b(exec|eval|globals|execfile|run_path|get_ipython)\(|^\s*%(run|load|pylab|store)", re.MULTILINE)


@functools.lru_cache(4096)
def canonical(path: str) -> str:
    """Return the canonical form of a dotted name. ``tensorflow.compat.v1`` is kept: it behaves differently."""
    for pattern, better in _SAME:
        path = pattern.sub(better, path)
    return path


def unbound(tree: ast.Module, written: str) -> frozenset[str]:
    """Return the names of ``MEANINGS`` that no scope of the file binds; none if it may bind names invisibly."""
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
