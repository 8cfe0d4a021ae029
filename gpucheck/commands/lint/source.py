"""Read the files to lint: Python files in their declared encoding, notebooks cell by cell."""

import ast
import codecs
import errno
import io
import keyword
import re
import tokenize
import warnings
from typing import Any, NamedTuple

import msgspec

from gpucheck.commands.lint.magics import without_magics
from gpucheck.core.system.read import INVALID_JSON, whole

PROGRAM_BYTES_MAX = 8 * 1024 * 1024  # a larger .py file contains data
NOTEBOOK_BYTES_MAX = 24 * 1024 * 1024  # includes outputs such as images
NOTEBOOK_KEYS = re.compile(rb'"(?:cells|worksheets)"\s*:')
SUPPRESSED = re.compile(r"#\s*gpucheck:\s*ignore(?:\[([\w\s,-]*)\])?(?![\w-])")
PYTHON = ("python", "python3", "ipython")  # languages of notebooks
PYTHON_2_REASON = "this is Python 2, which TensorFlow has not supported since 2.1"
PYTHON_2 = re.compile(
    r"Missing parentheses in call to '(print|exec)'|multiple exception types must be parenthesized|leading zeros in"
)
PYTHON_2_LINE = re.compile(r"^\s*(raise \w+, |except [\w.]+, \w+:|print (?!=|\())|<>", re.MULTILINE)


class Unreadable(Exception):
    """A file that can't be linted, and the position of the error: line and column, from 1."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class Unread(NamedTuple):
    """A cell that can't be parsed, in a notebook with other cells that can."""

    cell: int
    error: Unreadable
    source: str


class Program(NamedTuple):
    """The Python code of one file; for a notebook its code cells in order."""

    text: str
    cells: tuple[tuple[int, int], ...]  # first line and number of each code cell; empty: not a notebook
    unread: tuple[Unread, ...] = ()  # cells replaced by a line that uses and binds the same names
    written: str = ""  # the whole text, with comments and shell commands

    def locate(self, line: int) -> tuple[int | None, int]:
        """Return the cell (None outside notebooks) and the line in it."""
        inside = [(first, number) for first, number in self.cells if first <= line]  # sorted by line
        return (inside[-1][1], line - inside[-1][0] + 1) if inside else (None, line)


def read(path: str) -> Program:
    """Read the program in a file, or from standard input: "-".

    Raises:
        Unreadable: the file does not exist or can't be read.
    """
    notebook = path.endswith(".ipynb")
    most = NOTEBOOK_BYTES_MAX if notebook else PROGRAM_BYTES_MAX
    try:
        data = whole(path, NOTEBOOK_BYTES_MAX if path == "-" else most, dash=True)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _too_large(most) from None
        raise Unreadable(f"cannot be read: {error.strerror or error}") from None
    if notebook or (path == "-" and _is_notebook(data)):
        return _notebook(data)
    if len(data) > most:  # of standard input
        raise _too_large(most)
    text = _decode(data)
    return Program(text, (), written=text)


def _too_large(most_bytes: int) -> Unreadable:
    return Unreadable(f"too large to be a training script: more than {most_bytes} bytes")


def _is_notebook(data: bytes) -> bool:
    """Whether standard input is a notebook, whose JSON would also parse as a Python expression."""
    return data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{") and bool(NOTEBOOK_KEYS.search(data))


def _decode(data: bytes) -> str:
    """Decode text in the encoding that its first two lines declare, or else in UTF-8, as Python does."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Unreadable("encoded in UTF-16, which Python does not read: save it as UTF-8", line=1)
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"not valid {encoding}: declare the encoding in the first line, or save it as UTF-8"
        raise Unreadable(message, line=data.count(b"\n", 0, error.start) + 1) from None
    except (SyntaxError, LookupError) as error:
        raise Unreadable(str(error), line=1) from None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise Unreadable("a binary file: it contains null bytes")
    return text


class _Cell(msgspec.Struct):
    """A cell; its outputs are skipped while parsing."""

    cell_type: str
    source: str | list[str] = ""
    input: str | list[str] = ""  # the source of code before format 4

    @property
    def text(self) -> str:
        return "".join(self.source or self.input)


class _Worksheet(msgspec.Struct):
    cells: list[_Cell] = []


class _Metadata(msgspec.Struct, frozen=True):
    kernelspec: dict[str, Any] = {}
    language_info: dict[str, Any] = {}


class _Notebook(_Worksheet, kw_only=True):
    """A notebook of any format."""

    nbformat: int  # required, because other JSON files don't have it
    worksheets: list[_Worksheet] = []  # contain the cells before format 4
    metadata: _Metadata = _Metadata()


def _notebook(data: bytes) -> Program:
    try:
        book = msgspec.json.decode(data.removeprefix(codecs.BOM_UTF8), type=_Notebook)
    except INVALID_JSON as error:
        raise Unreadable(f"not a notebook: {error}") from None
    language = book.metadata.kernelspec.get("language") or book.metadata.language_info.get("name") or "python"
    if str(language).lower() not in PYTHON:
        return Program("", ())
    cells = book.cells or [cell for sheet in book.worksheets for cell in sheet.cells]
    if sum(len(cell.text) for cell in cells) > PROGRAM_BYTES_MAX:
        raise _too_large(PROGRAM_BYTES_MAX)
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    unread: list[Unread] = []
    for number, cell in enumerate(cells, 1):
        if cell.cell_type != "code":
            continue
        code = without_magics(cell.text.replace("\r\n", "\n"))
        try:
            parse(code)
        except Unreadable as error:
            if error.message == PYTHON_2_REASON:  # applies to the whole notebook
                raise Unreadable(f"{PYTHON_2_REASON} (cell {number}, line {error.line})") from None
            unread.append(Unread(number, error, code))
            code = _placeholder(code)
        starts.append((len(lines) + 1, number))
        lines += code.split("\n")
    return Program("\n".join(lines) + "\n", tuple(starts), tuple(unread), "\n".join(cell.text for cell in cells))


def _placeholder(source: str) -> str:
    """Return a line that replaces a cell that can't be parsed: it uses the cell's names, and rebinds some.

    Only names that are always followed by a dot or a bracket keep their value.
    """
    named: dict[str, None] = {}
    bound: dict[str, None] = {}
    for match in re.finditer(r"(?<![\w.])([^\W\d]\w*)((?:\.[^\W\d]\w*)*)(\s*\()?", source):
        if not any(keyword.iskeyword(word) or not word.isidentifier() for word in (match[1] + match[2]).split(".")):
            named[match[1] + match[2]] = None
            if match[1] == match[0]:
                bound[match[1]] = None
    return " = ".join([*bound, f"__unread__({', '.join(named)})"])


def parse(text: str) -> ast.Module:
    """Parse a program.

    Raises:
        Unreadable: the text is not Python 3, or nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in strings
            return ast.parse(text)
    except SyntaxError as error:
        line = [*text.split("\n"), ""][(error.lineno or 1) - 1]
        old = PYTHON_2.search(error.msg or "") or PYTHON_2_LINE.search(line)
        what = PYTHON_2_REASON if old else f"syntax error: {error.msg}"
        raise Unreadable(what, line=error.lineno or 1, column=max(error.offset or 1, 1)) from None
    except (RecursionError, MemoryError):
        raise Unreadable("nested too deeply to be parsed") from None
    except ValueError as error:
        raise Unreadable(f"cannot be parsed: {error}") from None


def ignored(text: str) -> dict[int, set[str]]:
    """Return the codes that comments suppress, by line; an empty set suppresses all: ``# gpucheck: ignore[code, code]``."""
    lines: dict[int, set[str]] = {}
    if "gpucheck" not in text:
        return lines
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and (match := SUPPRESSED.search(token.string)):
                lines[token.start[0]] = set(re.findall(r"[\w-]+", match[1])) or {""} if match[1] is not None else set()
    except (tokenize.TokenError, SyntaxError):
        pass
    return lines
