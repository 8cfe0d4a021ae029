"""What only IPython understands in the cells of a notebook: magics, shell commands, help. They become blank or plain Python."""

import ast
import re

CELL = re.compile(r"%%(?:time|timeit|capture|prun|memit|mprun|snakeviz|scalene|pyinstrument|heat|debug)\b")
# At the beginning of a statement none of this is Python.
HELP = re.compile(r"\s*%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?\d+\])*\?{1,2}\s*")  # with wildcards: tf.*Dev*?
BEGINS = re.compile(r"\s*[%!?,;/]")
ENVIRONMENT = re.compile(r"%(?:set_)?env\s+(\w+)(?:\s*=\s*|\s+)(.+)")
ASSIGNED = re.compile(r"=\s*(?=!|%[A-Za-z_])")
# Line magics that run the Python behind them, and their options that take a value.
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
    """A cell in which what only IPython understands is blank; every line keeps its number.

    The statement behind ``%time`` and its kind stays, where it stood.
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
    """Reads lines one after the other, and knows where a statement begins: outside of brackets, strings and continued lines."""

    def __init__(self) -> None:
        self.quote = ""  # that ends the string which is open
        self.open = 0  # brackets
        self.begins = True

    def read(self, line: str) -> int | None:
        """Read one line; where in it a magic stands that is assigned to something, else None."""
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
            self.quote = ""  # a syntax error, told by who parses it
        self.begins = not (self.quote or self.open or going_on)
        return None


def _joined(lines: list[str]) -> tuple[str, int]:
    """The first line with those that a backslash joins to it, and how many these are."""
    count = 1
    while count < len(lines) and lines[count - 1].endswith("\\"):
        count += 1
    return " ".join(line.removesuffix("\\") for line in lines[:count]), count


def _replaced(line: str) -> str:
    """Python for a line that is a magic."""
    indent = line[: len(line) - len(line.lstrip())]
    left = f"{indent}pass" if indent else ""
    return _environment(line, indent) or _statement(line, indent) or left


def _environment(line: str, indent: str) -> str:
    """What ``%env NAME=VALUE`` does, as Python; "" for other magics. A value with variables in it is not known."""
    match = ENVIRONMENT.fullmatch(line.strip())
    if match is None:
        return ""
    value = f"str({match[2]!r})" if re.search(r"[${]", match[2]) else repr(match[2])
    return f'{indent}__import__("os").environ["{match[1]}"] = {value}'  # begins in the magic's own column


def _statement(line: str, indent: str) -> str:
    """The statement that a magic runs, in its columns if it is not a compound one; "" for other magics."""
    code = _code(line.strip())
    if not _parses(code) or not code:
        return ""
    beside = "0;" + " " * (len(line.rstrip()) - len(indent) - 2 - len(code)) + code
    return indent + (beside if _parses(beside) else code)


def _assigned(magic: str) -> str:
    """The value of a magic that is assigned: ``t = %time f()`` gets what f returns."""
    code = _code(magic.strip())
    if not code or not _parses(code):
        return "None"
    if magic.startswith("%time ") and _parses(f"({code})"):
        return " " * (len(magic.rstrip()) - len(code)) + code
    return f"None; {code}" if _parses(f"None; {code}") else "None"


def _code(magic: str) -> str:
    """The Python that a line magic runs, without the magic's options; "" for other magics."""
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
