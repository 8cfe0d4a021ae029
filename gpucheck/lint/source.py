"""Reads what is linted: Python files in their declared encoding, notebooks cell by cell, folders with both."""

import ast
import io
import os
import re
import stat
import sys
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

LARGEST_BYTES = 8 * 1024 * 1024  # of a program; larger ones are data with a .py at the end
LARGEST_NOTEBOOK_BYTES = 256 * 1024 * 1024  # outputs, such as pictures, included
SUFFIXES = (".py", ".ipynb")
SKIPPED = {"__pycache__", "node_modules", "site-packages", "dist-packages", "venv"}
MAGIC = re.compile(r"\s*(?:%%?[A-Za-z_]|!(?!=)|\?|[\w.]+\?{1,2}\s*$)")  # no operators: a line may go on with % 2 or != b
ENVIRONMENT = re.compile(r"%(?:set_)?env\s+(\w+)(?:\s*=\s*|\s+)(.+)")
ASSIGNED_MAGIC = re.compile(r"(\s*[\w, ]+=\s*)[%!].*")
PYTHON_2 = re.compile(
    r"Missing parentheses in call to '(print|exec)'|multiple exception types must be parenthesized|leading zeros in"
)
PYTHON_2_LINE = re.compile(r"^\s*(raise \w+, |except [\w.]+, \w+:|print (?!=|\())|<>", re.MULTILINE)


class Unreadable(Exception):
    """A file that can't be linted, and where the trouble is: the cell of a notebook, line and column, all from 1."""

    def __init__(self, message: str, *, cell: int | None = None, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.cell, self.line, self.column = message, cell, line, column


class Program(NamedTuple):
    """The Python of one file; of a notebook the code cells one after the other."""

    text: str
    cells: tuple[tuple[int, int], ...]  # first line and number of each code cell; empty: not a notebook

    def locate(self, line: int) -> tuple[int | None, int]:
        """The cell (None outside notebooks) and the line in it."""
        inside = [(first, number) for first, number in self.cells if first <= line]  # in order
        return (inside[-1][1], line - inside[-1][0] + 1) if inside else (None, line)


def files(paths: Iterable[str]) -> Iterator[str]:
    """The files that are meant: those named, and in a folder every .py and .ipynb that is not somebody else's or hidden."""
    seen: set[str] = set()
    for path in paths:
        for file in _walk(path) if os.path.isdir(path) else (path,):
            key = os.path.normcase(os.path.abspath(file))
            if key not in seen:
                seen.add(key)
                yield file


def _walk(folder: str) -> Iterator[str]:
    refused: list[str] = []
    for place, folders, names in os.walk(folder, onerror=lambda error: refused.append(error.filename)):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in SKIPPED and not os.path.exists(os.path.join(place, name, "pyvenv.cfg"))
        )
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield os.path.join(place, name)
    yield from refused  # reading them says why


def read(path: str) -> Program:
    """The program in a file, or in the standard input: "-".

    Raises:
        Unreadable: there is none, or none that could be read.
    """
    if path == "-":
        return Program(_decode(sys.stdin.buffer.read(LARGEST_BYTES)), ())
    notebook = path.endswith(".ipynb")
    try:
        about = os.stat(path)
        if stat.S_ISDIR(about.st_mode):
            os.listdir(path)
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable("not a regular file")
        if about.st_size > (LARGEST_NOTEBOOK_BYTES if notebook else LARGEST_BYTES):
            raise Unreadable(f"too large to be a training script: {about.st_size} bytes")
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from None
    return _notebook(data) if notebook else Program(_decode(data), ())


def _decode(data: bytes) -> str:
    """Text in the encoding that a byte order mark or the first two lines declare, else UTF-8."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    else:
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        except SyntaxError as error:
            raise Unreadable(f"its encoding is not known: {error.msg}", line=1) from None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(
            f"not valid {encoding}: declare the encoding in the first line, or save it as UTF-8", line=line
        ) from None
    except LookupError:
        raise Unreadable(f"its encoding {encoding} is not known", line=1) from None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise Unreadable("a binary file: it contains null bytes")
    return text


def _notebook(data: bytes) -> Program:
    try:
        import nbformat  # optional, and slow to import
    except ImportError:
        raise Unreadable('reading notebooks needs nbformat: pip install "keras-gpucheck[notebook]"') from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of cells without an id
            reads: Any = nbformat.reads
            book = reads(data.decode("utf-8-sig"), as_version=4)
        language = book.metadata.get("kernelspec", {}).get("language") or book.metadata.get("language_info", {}).get("name")
        cells = [(number, str(cell.source)) for number, cell in enumerate(book.cells, 1) if cell.cell_type == "code"]
    except Exception as error:  # nbformat raises whatever its parser and its validator do
        raise Unreadable(f"not a notebook: {str(error).partition(chr(10))[0][:200] or type(error).__name__}") from None
    if language and str(language).lower() not in ("python", "python3", "ipython"):
        return Program("", ())
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    for number, source in cells:
        code = _without_magics(source.replace("\r\n", "\n"))
        try:
            parse(code)
        except Unreadable as error:
            raise Unreadable(error.message, cell=number, line=error.line, column=error.column) from None
        starts.append((len(lines) + 1, number))
        lines += code.split("\n")
    return Program("\n".join(lines) + "\n", tuple(starts))


def _without_magics(source: str) -> str:
    """A cell in which what only IPython understands is blank; every line keeps its number."""
    lines = source.split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%") and not re.match(r"%%(time|timeit|capture|prun)\b", first):
        return "\n".join("" for _ in lines)  # a cell of another language
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    else:
        return source  # plain Python, whose continuation lines may well begin with %
    found: list[str] = []
    going_on = False
    for line in lines:
        begins = not going_on and bool(MAGIC.match(line))
        indent = line[: len(line) - len(line.lstrip())]
        if begins:
            found.append(_environment(line, indent) or (f"{indent}pass" if indent else ""))
        else:
            found.append("" if going_on else ASSIGNED_MAGIC.sub(r"\1None", line))
        going_on = (begins or going_on) and line.endswith("\\")
    return "\n".join(found)


def _environment(line: str, indent: str) -> str:
    """What ``%env NAME=VALUE`` does, as Python; "" for other magics. A value with variables in it is not known."""
    match = ENVIRONMENT.fullmatch(line.strip())
    if match is None:
        return ""
    value = f"str({match[2]!r})" if re.search(r"[${]", match[2]) else repr(match[2])
    return f'{indent}import os; os.environ["{match[1]}"] = {value}'


def parse(text: str) -> ast.Module:
    """Parse a program.

    Raises:
        Unreadable: it is not Python 3, or nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in somebody's strings
            return ast.parse(text)
    except SyntaxError as error:
        line = [*text.split("\n"), ""][(error.lineno or 1) - 1]
        old = PYTHON_2.search(error.msg or "") or PYTHON_2_LINE.search(line)
        what = "this is Python 2, which no TensorFlow since 2.1 runs" if old else f"syntax error: {error.msg}"
        raise Unreadable(what, line=error.lineno or 1, column=max(error.offset or 1, 1)) from None
    except (RecursionError, MemoryError):
        raise Unreadable("nested too deeply to be parsed") from None
    except ValueError as error:
        raise Unreadable(f"cannot be parsed: {error}") from None


def ignored(text: str) -> dict[int, set[str]]:
    """The codes that comments silence, by line; an empty set silences all: ``# gpucheck: ignore[code, code]``."""
    found: dict[int, set[str]] = {}
    if "gpucheck" not in text:
        return found
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and (
                match := re.search(r"#\s*gpucheck:\s*ignore(?:\[([\w\s,-]*)\])?(?![\w-])", token.string)
            ):
                found[token.start[0]] = set(re.findall(r"[\w-]+", match[1])) or {""} if match[1] is not None else set()
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
