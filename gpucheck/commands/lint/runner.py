"""Lint files: read and trace them, and run every rule. Linted files are never executed or imported."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gpucheck.commands.lint import search, source
from gpucheck.commands.lint.edits import apply
from gpucheck.commands.lint.script import Edit, Finding, LintRule, Script
from gpucheck.core.model.progress import Progress
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout
from gpucheck.core.system.ownership import of_another_user

# Programs without any of these words use neither framework; the last words match samples without imports.
FRAMEWORKS = (
    *("tensorflow", "keras", "tf.config", "tf.data.", "tf.debugging", "tf.device", "tf.distribute", "tf.train"),
    *("tf.ConfigProto", "tf.Session", "tf.GradientTape", "tf.function", "tf.tpu", "multi_gpu_model"),
)
CHARACTERS_MAX = 2_000_000  # a larger file contains data, and its syntax tree takes gigabytes
SEARCH = "the search for files"
TIMED_OUT = "the time limit was reached (--timeout); the rest was not read"
ONLY_IF_NAMED = "it changes another user's file only if the file is an argument"
ONLY_PLAIN = "it changes only UTF-8 files with Unix line endings, and no links"
RECURSION_LIMIT = 3000  # recursion limit: the trace needs several frames per level of nesting


class Problem(NamedTuple):
    """One finding in a file; positions start at 1, and columns are in characters."""

    file: str
    cell: int | None  # number of the notebook cell, counting all cells
    line: int
    column: int
    end_line: int
    code: str
    severity: str
    message: str
    fix: str
    end_column: int  # after the last character
    source: str  # the first line of the finding, as in the file
    edit: Edit | None = None  # the change by --fix


class Failure(NamedTuple):
    """A file that could not be linted, or a cell that was skipped."""

    file: str
    cell: int | None
    line: int | None
    column: int | None
    message: str


class Result(NamedTuple):
    """The result of a run."""

    files: int
    problems: tuple[Problem, ...]
    failures: tuple[Failure, ...]
    fixed: int = 0  # number of edits by --fix; ``problems`` are those that remain

    @property
    def exit_code(self) -> int:
        """Return 0: no findings, 1: findings, 2: a file or cell could not be read."""
        return 2 if self.failures else 1 if self.problems else 0


def lint(
    paths: Iterable[str],
    rules: Sequence[LintRule],
    remaining: Callable[[], float] = lambda: math.inf,
    progress: Progress[Result] | None = None,
    say: Callable[[str], None] = lambda line: None,
    *,
    fix: bool = False,
) -> Result:
    """Lint files and folders.

    Args:
        paths: the files and folders.
        rules: the rules to run.
        remaining: returns the seconds left; files that are not linted in time are failures.
        fix: correct what can be corrected safely, and lint the file again. Another user's file must be one of the paths.
        say: called with a line about each unused .gitignore, and about files of other users that are not corrected.
        progress: its snapshot is the result so far, with the current file as a failure.
    """
    paths = tuple(paths)
    corrections = _Corrections(paths, enabled=fix)
    count, problems, failures = 0, list[Problem](), list[Failure]()
    file: str | None = SEARCH

    def snapshot() -> Result:
        return Result(count, tuple(problems), (*failures, Failure(str(file), None, None, None, TIMED_OUT)), corrections.made)

    if progress is not None:
        progress.snapshot = snapshot
    files = search.files(paths, say)
    while True:
        file = SEARCH
        try:
            file = with_timeout(remaining(), next, files, None)
            if file is None:
                break
            count += 1
            program = with_timeout(min(FILE_SECONDS, remaining()), source.read, file)
            failures += [_failure(file, cell.error, cell.cell) for cell in program.unread]
            found = lint_program(program, rules, file)
            if corrections.make(file, program, found, min(FILE_SECONDS, remaining())):
                found = lint_program(with_timeout(min(FILE_SECONDS, remaining()), source.read, file), rules, file)
            problems += found
        except source.Unreadable as error:
            failures.append(_failure(file, error))
        except NoResponse as error:
            failures.append(Failure(file, None, None, None, str(error.strerror) if remaining() > 0 else TIMED_OUT))
            if file == SEARCH or remaining() <= 0:
                break
        except OSError as error:
            failures.append(Failure(file, None, None, None, f"cannot be changed: {error.strerror or error}"))
    corrections.report(say, remaining=bool(problems))
    return Result(count, tuple(problems), tuple(failures), corrections.made)


class _Corrections:
    """The corrections that were made, and why other files were not corrected."""

    def __init__(self, paths: Iterable[str], *, enabled: bool) -> None:
        self.made = 0
        self._enabled = enabled
        self._named = set(map(search.absolute, paths))
        self._unchanged: dict[str, list[str]] = {ONLY_IF_NAMED: [], ONLY_PLAIN: []}  # by reason

    def make(self, file: str, program: source.Program, found: Sequence[Problem], limit_seconds: float) -> bool:
        """Correct a file; return whether it was changed."""
        edits = [problem.edit for problem in found if problem.edit is not None]
        if not edits or not self._enabled:
            return False
        made = 0
        if file == "-":
            self._unchanged[ONLY_PLAIN].append("standard input")
        elif search.absolute(file) not in self._named and with_timeout(limit_seconds, of_another_user, file):
            self._unchanged[ONLY_IF_NAMED].append(file)
        elif not (made := with_timeout(limit_seconds, apply, file, program.text, edits)):
            self._unchanged[ONLY_PLAIN].append(file)
        self.made += made
        return made > 0

    def report(self, say: Callable[[str], None], *, remaining: bool) -> None:
        """Report a file that was not corrected, and the reason; ``remaining``: whether findings remain."""
        for reason, files in self._unchanged.items():
            if files:
                more = f" and {len(files) - 1} more" if len(files) > 1 else ""
                say(f"--fix did not change {files[0]}{more}: {reason}")
        if self._enabled and remaining and not (self.made or any(self._unchanged.values())):
            say("--fix changed nothing: these findings have no safe correction")


def where(place: Problem | Failure) -> str:
    """Return a position: ``train.py:12:5``; in a notebook ``train.ipynb:cell 3:12:5``."""
    cell = [] if place.cell is None else [f"cell {place.cell}"]
    return ":".join([place.file, *cell, *(str(number) for number in (place.line, place.column) if number is not None)])


def lint_program(program: source.Program, rules: Sequence[LintRule], file: str) -> list[Problem]:
    """Lint a program and return its findings in line order.

    Raises:
        Unreadable: the program can't be parsed or traced.
    """
    uses = _mentions(program.text, FRAMEWORKS)
    if len(program.text) > CHARACTERS_MAX:
        if uses:
            raise source.Unreadable(f"too large to be a training script: {len(program.text)} characters")
        return []
    tree = source.parse(program.text)
    unread = "\n".join(cell.source for cell in program.unread)  # a rule may need the events of these cells
    rules = [rule for rule in rules if _mentions(program.text, rule.words) and not _mentions(unread, rule.words)]
    if not rules or not uses:
        return []
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        script = Script(tree, program.locate, program.written)
        findings = {(finding, rule) for rule in rules for finding in rule.check(script)}
    except RecursionError:
        raise source.Unreadable("nested too deeply to be traced") from None
    finally:
        sys.setrecursionlimit(limit)
    if not script.complete:
        raise source.Unreadable("too large to be traced completely")
    return list(_problems(sorted(findings, key=lambda pair: (pair[0][:6], pair[1].code)), program, file))


def _mentions(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _failure(file: str, error: source.Unreadable, cell: int | None = None) -> Failure:
    return Failure(file, cell, error.line, error.column, error.message)


def _problems(findings: Iterable[tuple[Finding, LintRule]], program: source.Program, file: str) -> Iterator[Problem]:
    suppressed, lines = source.ignored(program.text), program.text.split("\n")
    reported: set[tuple[int, str]] = set()
    for finding, rule in findings:
        codes = [suppressed[line] for line in range(finding.line, finding.end_line + 1) if line in suppressed]
        if any(not listed or rule.code in listed for listed in codes) or (finding.line, rule.code) in reported:
            continue
        reported.add((finding.line, rule.code))
        cell, line = program.locate(finding.line)
        first, end_line = lines[finding.line - 1], line + finding.end_line - finding.line
        begin, end = _characters(first, finding.column), _characters(lines[finding.end_line - 1], finding.end_column)
        edit = _edit_in_characters(finding.edit, lines) if finding.edit and cell is None else None
        level = rule.severity.value
        yield Problem(file, cell, line, begin, end_line, rule.code, level, finding.message, finding.fix, end, first, edit)


def _edit_in_characters(edit: Edit, lines: Sequence[str]) -> Edit:
    begin, end = _characters(lines[edit.line - 1], edit.column), _characters(lines[edit.end_line - 1], edit.end_column)
    return edit._replace(column=begin, end_column=end)


def _characters(line: str, column: int) -> int:
    """Convert a column from bytes of UTF-8 to characters."""
    return column if line.isascii() else len(line.encode("utf-8", "replace")[: column - 1].decode("utf-8", "ignore")) + 1
