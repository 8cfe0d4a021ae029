"""The cases of tests/cases/logs: whole logs with their expected cause, and lines with their expected events.

A folder of ``texts`` has logs of several lines as ``NAME.log``, and logs of one line in ``labels.toml``, which groups both by
the expected result:

    [error.CODE]    this diagnosis comes first, as an error, and is the only independent error
    [warning.CODE]  this diagnosis, as a warning, and nothing else
    [no-error]      warnings at most
    [quiet]         nothing at all

A file of ``repairs`` has logs with parts of repairs that must, or must not, be printed for them.

A file of ``lines`` has, for each kind of event, lines that must give it, with the expected fields, and similar lines that must not.
Most entries are single lines; an event of several lines has all of them.
"""

from pathlib import Path
from typing import NamedTuple

from gpucheck.core.expectations import toml

FOLDER = Path(__file__).parent / "cases" / "logs"
TOPICS = sorted(path.name for path in FOLDER.joinpath("texts").iterdir())
REPAIR_FILES = sorted(path.name for path in FOLDER.joinpath("repairs").iterdir())
LINE_FILES = sorted(path.name for path in FOLDER.joinpath("lines").iterdir())


class LogCase(NamedTuple):
    """A log and its expected result; ``code`` is None if no diagnosis is expected."""

    name: str  # of its file, or the line itself
    text: str
    level: str  # error, warning, no-error, quiet
    code: str | None


class LineCase(NamedTuple):
    """Lines that must give an event of this kind with at least these fields, or no such event if ``fields`` is None."""

    kind: str
    text: str
    fields: dict[str, str] | None


def read_toml(path):
    return toml.load(path.read_text(encoding="utf-8"), str(path))


def log_cases(topic):
    """Every log of one topic."""
    folder = FOLDER / "texts" / topic
    for level, group in read_toml(folder / "labels.toml").items():
        for code, logs in {None: group}.items() if level in ("no-error", "quiet") else group.items():
            for name in logs.get("files", ()):
                yield LogCase(name, folder.joinpath(name).read_text(encoding="utf-8"), level, code)
            for line in logs.get("lines", ()):
                yield LogCase(line, line, level, code)


def line_cases(file):
    """Every line of one file."""
    for kind, table in read_toml(FOLDER / "lines" / file).items():
        for given in table["given_by"]:
            text, fields = (given, {}) if isinstance(given, str) else (given["text"], given["fields"])
            yield LineCase(kind, text, fields)
        for text in table["not_given_by"]:
            yield LineCase(kind, text, None)


def repair_cases(file):
    """Logs with text that their repairs must or must not contain."""
    return read_toml(FOLDER / "repairs" / file)["log"]
