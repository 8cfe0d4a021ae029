"""Replace IPython syntax in notebook cells (magics, shell commands, help) by blank lines or plain Python."""

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
QUOTE = re.compile(r"(?:'''|\"\"\"|'|\")")


def without_magics(source: str) -> str:
    """Return a cell with IPython syntax blanked out; every line keeps its number.

    The statement after ``%time`` and similar magics stays in its line.
    """
    lines = source.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not CELL.match(first):
        return "\n".join("" for _ in lines)  # a cell of another language
    if _parses(source):
        return source
    kept: list[str] = []
    reader = _Reader()
    while len(kept) < len(lines):
        line = lines[len(kept)]
        if reader.begins and (BEGINS.match(line) or HELP.fullmatch(line)):
            whole, count = _joined(lines[len(kept) :])
            kept += [_replaced(whole), *[""] * (count - 1)]
            continue
        at = reader.read(line)
        if at is None:
            kept.append(line)
            continue
        whole, count = _joined([line[at:], *lines[len(kept) + 1 :]])
        kept += [line[:at] + _assigned(whole), *[""] * (count - 1)]
        reader = _Reader()
    return "\n".join(kept)


class _Reader:
    """Reads lines in order and tracks where a statement begins: outside brackets, strings and continued lines."""

    def __init__(self) -> None:
        self.quote = ""  # that closes the open string
        self.open = 0  # brackets
        self.begins = True

    def read(self, line: str) -> int | None:
        """Read one line; return the column of a magic that is assigned to a name, else None."""
        at, going_on = 0, False
        while at < len(line):
            if line[at] == "\\":
                going_on = at == len(line) - 1
                at += 2
            elif self.quote:
                ended = line.startswith(self.quote, at)
                at += len(self.quote) if ended else 1
                self.quote = "" if ended else self.quote
            elif line[at] == "#":
                break
            elif quote := QUOTE.match(line, at):
                self.quote = quote[0]
                at = quote.end()
            elif not self.open and (magic := ASSIGNED.match(line, at)):
                return magic.end()
            else:
                self.open = max(0, self.open + (line[at] in "([{") - (line[at] in ")]}"))
                at += 1
        if len(self.quote) == 1 and not going_on:
            self.quote = ""  # a syntax error, which parsing reports
        self.begins = not (self.quote or self.open or going_on)
        return None


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
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
