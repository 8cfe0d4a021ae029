"""Edits that correct a finding without changing the program's results, and `gpucheck lint --fix`."""

import ast
import itertools
import os
import re
from collections.abc import Iterable

from gpucheck.commands.lint import source
from gpucheck.commands.lint.magics import compiles
from gpucheck.commands.lint.script import Edit, Script
from gpucheck.core.system import write
from gpucheck.core.system.read import whole

_CLOSING = re.compile(r"\s*,?\s*\)")


def insert_argument(script: Script, call: ast.Call, text: str) -> Edit | None:
    """Append an argument to a call; None in a notebook, or if anything but the closing bracket follows its last argument."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not arguments or script.notebook:  # a notebook's syntax tree has the line numbers of its joined code cells
        return None
    last = max(arguments, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    rest = ast.copy_location(ast.Pass(), call)  # its position is that of the text from the last argument to the end of the call
    rest.lineno, rest.col_offset = last.end_lineno or 0, last.end_col_offset or 0
    between = ast.get_source_segment(script.written, rest) or ""
    return append(last, f", {text}") if _CLOSING.fullmatch(between) else None


def append(node: ast.expr, text: str, instead: str = "") -> Edit:
    """Add text after an expression, or in place of the text that ends it."""
    line, column = node.end_lineno or 0, (node.end_col_offset or 0) + 1
    return Edit(line, column - len(instead), line, column, text)


def rename_method(call: ast.Call, old: str, new: str) -> Edit | None:
    """Rename the method of a call; None if the call uses an alias."""
    return append(call.func, new, old) if isinstance(call.func, ast.Attribute) and call.func.attr == old else None


def rename(keyword: ast.keyword, name: str) -> Edit:
    """Rename the keyword of an argument."""
    line, column = keyword.lineno, keyword.col_offset + 1
    return Edit(line, column, line, column + len(keyword.arg or ""), name)


def switch_off(call: ast.Call, name: str) -> Edit | None:
    """Replace the argument True with False: the argument of this name, or the only one; None if it is not True."""
    values = [keyword.value for keyword in call.keywords if keyword.arg == name] or call.args[:1]
    on = [value for value in values if isinstance(value, ast.Constant) and value.value is True]
    return append(on[0], "False", "True") if on else None


def add_import(script: Script, statement: str, use: ast.expr) -> Edit:
    """Add an import after the docstring, imports from __future__, and settings of environment variables before ``use``."""
    body = script.tree.body[ast.get_docstring(script.tree, clean=False) is not None :]
    using = next(node.lineno for node in body if (node.end_lineno or 0) >= use.lineno)  # the statement that contains it
    settings = [line for setting in script.settings if (line := getattr(setting.event.node, "lineno", 0)) < using]
    body = [node for node in body if node.lineno > max(settings, default=0)]
    first = next(node for node in body if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"))
    line, column = min((node.lineno, node.col_offset + 1) for node in (first, *getattr(first, "decorator_list", ())))
    column = column if first.col_offset else 1  # a decorator's column is the one after its @
    return Edit(line, column, line, column, f"{statement}; " if first.col_offset else f"{statement}\n")


def alias(script: Script, module: str) -> str | None:
    """Return the name under which the file imports a module, such as "tf"; None if it does not."""
    names = (name for node in script.tree.body if isinstance(node, ast.Import) for name in node.names if name.name == module)
    return next((name.asname or name.name for name in names), None)


def apply(path: str, text: str, edits: Iterable[Edit]) -> int:
    """Write a file with these edits atomically; return the number of edits made. Of two overlapping edits the first is made.

    Args:
        path: a Python file. A link, or a file in an encoding other than UTF-8, is not changed.
        text: the content when the file was linted.
        edits: the edits, in any order; their columns count characters.

    Raises:
        OSError: the file can't be written.
    """
    data = whole(path, source.PROGRAM_BYTES_MAX)
    if os.path.islink(path) or "\r" in text or data != text.encode("utf-8", "replace"):
        return 0
    starts = [0, *itertools.accumulate(len(line) + 1 for line in text.split("\n"))]
    spans = sorted({(starts[e.line - 1] + e.column - 1, starts[e.end_line - 1] + e.end_column - 1, e.text) for e in edits})
    pieces, at, made = [], 0, 0
    for begin, end, new in spans:
        if begin >= at:
            pieces += [text[at:begin], new]
            at, made = end, made + 1
    changed = "".join([*pieces, text[at:]])
    if not compiles(changed):  # never write a file that Python can't compile
        return 0
    write.replace(path, changed.encode())
    return made
