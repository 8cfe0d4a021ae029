"""Replace IPython syntax in notebook cells (magics, shell commands, help) with blank lines or plain Python."""

import ast
import re
import warnings
from collections.abc import Callable

CELL = re.compile(r"%%(?:time|timeit|capture|prun|memit|mprun|snakeviz|scalene|pyinstrument|heat|debug)\b")
# None of these is valid Python at the start of a statement.
HELP = re.compile(r"\s*%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?\d+\])*\?{1,2}\s*")  # with wildcards: tf.*Dev*?
BEGINS = re.compile(r"[ \t]*[%!?,;/]")
ENVIRONMENT = re.compile(r"%(?:set_)?env\s+(\w+)(?:\s*=\s*|\s+)(.+)")
# The pieces of a cell: strings, comments, brackets, line ends, magics that are assigned to a name, and the rest.
PIECE = re.compile(
    r"\"{3}(?:\\.|.)*?(?:\"{3}|\Z)|'{3}(?:\\.|.)*?(?:'{3}|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|#[^\n]*|\\.?"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>\n)|(?P<assigned>=[ \t]*(?=!|%[A-Za-z_]))|=|[^\"'#\\()\[\]{}=\n]+",
    re.DOTALL,
)
INDENT = re.compile(r"(?:[ \t]*\n)*([ \t]+)(?=\S)")
PROMPT = re.compile(r"(?m)^(?:>>>|\.\.\.)(?: |$)")
LINE = re.compile(r"(?:\\\n|[^\n])*")
# Line magics that run the Python code after them, and their options that take a value.
RUNS = dict.fromkeys(("time", "pyinstrument", "heat"), "")
RUNS |= {"timeit": "nrp", "prun": "DlsT", "memit": "rti", "mprun": "rTf", "lprun": "fmDTus", "snakeviz": "f"}
RUN = re.compile(r"%%?(\w+)(?=\s|$)")


def without_magics(source: str) -> str:
    """Return a cell without IPython syntax; every line keeps its number.

    The statement after ``%time`` and similar magics stays on its line.
    """
    if indent := INDENT.match(source):  # IPython ignores the indentation of the first line, and the prompts of a copied session
        source = re.sub(rf"(?m)^{indent[1]}", "", source)
    source = PROMPT.sub("", source) if source.lstrip().startswith(">>> ") else source
    first = source.lstrip()
    if first.startswith("%%") and not CELL.match(first):
        return "\n" * source.count("\n")  # a cell of another language
    if compiles(source):
        return source
    kept: list[str] = []
    at = depth = 0
    begins = True  # whether a statement begins here
    while piece := PIECE.match(source, at):
        if begins and (magic := _line(source, at)) and (BEGINS.match(magic) or HELP.fullmatch(magic)):
            kept.append(_with_line_count(magic, _replaced))
            at, begins = at + len(magic), False
            continue
        kept.append(piece[0])
        at = piece.end()
        depth = max(0, depth + bool(piece["open"]) - bool(piece["close"]))
        begins = bool(piece["end"]) and not depth
        if piece["assigned"] and not depth:
            magic = _line(source, at)
            kept.append(_with_line_count(magic, _assigned))
            at += len(magic)
    return "".join(kept)


def _line(source: str, at: int) -> str:
    """Return the rest of a line, including lines that a backslash continues."""
    match = LINE.match(source, at)
    return match[0] if match else ""


def _with_line_count(magic: str, code: Callable[[str], str]) -> str:
    """Return the code of a magic, padded with empty lines to the number of its source lines."""
    return code(magic.replace("\\\n", " ")) + "\n" * magic.count("\\\n")


def _replaced(line: str) -> str:
    """Return Python code for a line that is a magic."""
    indent = line[: len(line) - len(line.lstrip())]
    left = f"{indent}pass" if indent else ""
    return _environment(line, indent) or _statement(line, indent) or left


def _environment(line: str, indent: str) -> str:
    """Return ``%env NAME=VALUE`` as Python; "" for other magics. A value that contains variables is unknown."""
    match = ENVIRONMENT.fullmatch(line.strip())
    if match is None:
        return ""
    value = f"str({match[2]!r})" if re.search(r"[${]", match[2]) else repr(match[2])
    return f'{indent}__import__("os").environ["{match[1]}"] = {value}'  # keeps the magic's column


def _statement(line: str, indent: str) -> str:
    """Return the statement that a magic runs, in the same columns unless it is compound; "" for other magics."""
    code = _code(line.strip())
    if not compiles(code) or not code:
        return ""
    beside = "0;" + " " * (len(line.rstrip()) - len(indent) - 2 - len(code)) + code
    return indent + (beside if compiles(beside) else code)


def _assigned(magic: str) -> str:
    """Return the value of an assigned magic: ``t = %time f()`` is bound to the result of f."""
    code = _code(magic.strip())
    if not code or not compiles(code):
        return "None"
    if magic.startswith("%time ") and compiles(f"({code})"):
        return " " * (len(magic.rstrip()) - len(code)) + code
    return f"None; {code}" if compiles(f"None; {code}") else "None"


def _code(magic: str) -> str:
    """Return the Python code that a line magic runs, without the magic's options; "" for other magics."""
    match = RUN.match(magic)
    if match is None or match[1] not in RUNS:
        return ""
    valued = RUNS[match[1]]
    option = rf"--[\w-]+(?:=\S+)?|-[A-Za-z]*?[{valued}]\s*\S+|-[A-Za-z]+" if valued else r"--[\w-]+(?:=\S+)?|-[A-Za-z]+"
    left = magic[match.end() :].lstrip()
    while skipped := re.match(rf"(?:{option})(?:\s+|$)", left):
        left = left[skipped.end() :]
    return left


def compiles(code: str) -> bool:
    """Whether Python can compile a program, or a notebook's cell with ``await`` at the top."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about the linted program
            compile(code, "program", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
