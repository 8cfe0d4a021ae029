"""Replace IPython syntax in notebook cells (magics, shell commands, help) by blank lines or plain Python.

None of it is Python, so the parser finds it: the line of a syntax error is looked at, and the cell parsed again.
"""

import ast
import re

CELL = re.compile(r"%%(?:time|timeit|capture|prun|memit|mprun|snakeviz|scalene|pyinstrument|heat|debug)\b")
# At the start of a statement none of these is Python.
HELP = re.compile(r"\s*%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?\d+\])*\?{1,2}\s*")  # with wildcards: tf.*Dev*?
BEGINS = re.compile(r"\s*[%!?,;/]")
ENVIRONMENT = re.compile(r"%(?:set_)?env\s+(\w+)(?:\s*=\s*|\s+)(.+)")
ASSIGNED = re.compile(r"=\s*(?=!|%[A-Za-z_])")
# Line magics that run the Python code after them, and their options that take a value.
RUNS = {
    "time": "",
    "timeit": "nrp",
    "prun": "DlsT",
    "memit": "rti",
    "mprun": "rTf",
    "lprun": "fmDTus",
    "snakeviz": "f",
    "pyinstrument": "",
    "heat": "",
}
RUN = re.compile(r"%%?(\w+)(?=\s|$)")
MOST_MAGICS = 300  # of a cell; each is found by parsing the cell again


def without_magics(source: str) -> str:
    """Return a cell with IPython syntax blanked out; every line keeps its number.

    The statement after ``%time`` and similar magics stays in its line.
    """
    lines = source.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not CELL.match(first):
        return "\n".join("" for _ in lines)  # a cell of another language
    for _ in range(MOST_MAGICS):
        number = _line_of_error("\n".join(lines))
        if number is None or not _replace(lines, number - 1):
            break
    return "\n".join(lines)


def _replace(lines: list[str], index: int) -> bool:
    """Replace the magic that begins or is assigned in a line, or above it before backslashes; False if there is none."""
    while index and lines[index - 1].endswith("\\"):
        index -= 1
    line = lines[index]
    if BEGINS.match(line) or HELP.fullmatch(line):
        whole, count = _joined(lines[index:])
        replaced = _replaced(whole)
    elif assigned := ASSIGNED.search(line):
        at = assigned.end()
        whole, count = _joined([line[at:], *lines[index + 1 :]])
        replaced = line[:at] + _assigned(whole)
    else:
        return False
    lines[index : index + count] = [replaced, *[""] * (count - 1)]
    return True


def _joined(lines: list[str]) -> tuple[str, int]:
    """Return the first line with the lines that backslashes join to it, and their number."""
    count = 1
    while count < len(lines) and lines[count - 1].endswith("\\"):
        count += 1
    return " ".join(line.removesuffix("\\") for line in lines[:count]), count


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
    return f'{indent}__import__("os").environ["{match[1]}"] = {value}'  # starts in the magic's column


def _statement(line: str, indent: str) -> str:
    """Return the statement that a magic runs, in its columns unless it is compound; "" for other magics."""
    code = _code(line.strip())
    if not _parses(code) or not code:
        return ""
    beside = "0;" + " " * (len(line.rstrip()) - len(indent) - 2 - len(code)) + code
    return indent + (beside if _parses(beside) else code)


def _assigned(magic: str) -> str:
    """Return the value of an assigned magic: ``t = %time f()`` is bound to the result of f."""
    code = _code(magic.strip())
    if not code or not _parses(code):
        return "None"
    if magic.startswith("%time ") and _parses(f"({code})"):
        return " " * (len(magic.rstrip()) - len(code)) + code
    return f"None; {code}" if _parses(f"None; {code}") else "None"


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


def _parses(code: str) -> bool:
    return _line_of_error(code) is None


def _line_of_error(code: str) -> int | None:
    """Return the line of the first syntax error, from 1; None if there is none."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return 1
    return None
