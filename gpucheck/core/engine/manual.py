"""A rule's docstring is its manual page: ``gpucheck explain CODE``, the docs and a tested example use it.

    One sentence: the state that this code identifies.

    Symptom:
        Real error texts, as a user would paste them into a search engine, and ``gpucheck explain`` names this code for
          each, which may have more lines
        - Another sign, or a message that other causes print as well
    Cause:
        Why this happens.
    Fix:
        1. What to do, best first, with its command on a line of its own
           $ sudo systemctl enable --now nvidia-fabricmanager
        2. Or what needs no command
        3. What to look at, with a command that changes nothing
           ? sudo journalctl -u nvidia-fabricmanager -n 50
    Verify:
        What to run afterwards, and its expected output.
    Unless:
        When not to change anything.
    Example:
        machine: h200
        driver.status = "failed"
        -> The expected summary.
    References:
        Where this is documented.

A rule whose module has a function ``repairs(context, *, ...)`` has no section ``Fix``: the page lists what the function yields
for an unknown machine.

``Example`` starts from a recorded machine (``tests/machines``), applies the changes (a path into its facts and a JSON value),
and ends with the finding's summary. The test suite runs it against *all* rules.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpucheck.core.model import Fix
from gpucheck.core.model.plugin import Rule
from gpucheck.core.repairs.choice import choose
from gpucheck.core.repairs.context import Context

SECTIONS = ("Symptom", "Cause", "Fix", "Verify", "Unless", "Example", "References")


class Example(NamedTuple):
    """The tested example of a page."""

    machine: str
    changes: tuple[tuple[str, Any], ...]  # path into the facts, JSON value
    summary: str


class Page(NamedTuple):
    """A parsed manual page; sections are in the order of ``SECTIONS``, texts unindented."""

    code: str
    title: str
    sections: dict[str, str]

    @property
    def messages(self) -> tuple[str, ...]:
        """The error texts of its symptoms, some of several lines. Other symptoms begin with a dash."""
        texts = re.split(r"\n(?! )", self.sections["Symptom"])
        return tuple(text for text in texts if not text.startswith("- "))

    @property
    def signs(self) -> tuple[str, ...]:
        """The symptoms that are not error texts, or not of this code alone."""
        return tuple(line[2:] for line in self.sections["Symptom"].splitlines() if line.startswith("- "))

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """The fixes, best first. Raises ValueError if the section is malformed."""
        return _fixes(self.sections["Fix"])

    @property
    def example(self) -> Example:
        """The tested example. Raises ValueError if it is malformed."""
        return _example(self.sections["Example"])


def page_of(rule: Rule) -> Page:
    """Return the page of a rule: its docstring, with the repairs for an unknown machine.

    Raises:
        ValueError: a section is missing, unknown or empty.
    """
    return page(rule.code, rule.doc, None if rule.repairs is None else choose(rule.repairs(Context()), Context()))


def page(code: str, docstring: str, repairs: tuple[Fix, ...] | None = None) -> Page:
    """Parse a rule's module docstring.

    Args:
        code: the rule's code.
        docstring: its text.
        repairs: the section Fix; None: the docstring has it.

    Raises:
        ValueError: a section is missing, unknown or empty.
    """
    title, _, body = docstring.strip().partition("\n")
    sections: dict[str, str] = {}
    for name, text in re.findall(r"^(\w+):\n((?:[ ]{4}.*\n|[ ]*\n)*)", body.rstrip() + "\n", flags=re.MULTILINE):
        sections[name] = "\n".join(line[4:] for line in text.rstrip().splitlines())
    if repairs is not None:
        if "Fix" in sections:
            raise ValueError(f"manual page of {code}: both a section Fix and a function repairs")
        sections["Fix"] = "\n".join(line for number, fix in enumerate(repairs, 1) for line in _listed(number, fix))
    missing = [name for name in SECTIONS if not sections.get(name, "").strip()]
    unknown = sorted(sections.keys() - set(SECTIONS))
    if missing or unknown:
        raise ValueError(f"manual page of {code}: missing {missing}, unknown {unknown}")
    return Page(code, title.strip(), {name: sections[name] for name in SECTIONS})


def docstring(module: str) -> str:
    """Read a module's docstring from its source, for an interpreter that drops docstrings (-OO); "" without source."""
    import ast
    import importlib.util

    spec = importlib.util.find_spec(module)
    source = getattr(spec.loader, "get_source", None) if spec is not None else None
    try:
        text = source(module) if source is not None else None
    except (ImportError, OSError):
        text = None
    return ast.get_docstring(ast.parse(text), clean=False) or "" if text else ""


def _fixes(text: str) -> tuple[Fix, ...]:
    fixes: list[Fix] = []
    for line in text.splitlines():
        if item := re.fullmatch(r"\d+\. (.+)", line):
            fixes.append(Fix(text=item[1]))
        elif not line.startswith("   ") or not fixes or fixes[-1].command:
            raise ValueError(f"invalid line in a list of fixes: {line!r}")
        elif line.startswith(("   $ ", "   ? ")):
            fixes[-1] = replace(fixes[-1], command=line[5:], kind="look" if line[3] == "?" else None)
        else:
            fixes[-1] = replace(fixes[-1], text=f"{fixes[-1].text} {line.strip()}")
    return tuple(fixes)


def _listed(number: int, fix: Fix) -> Iterator[str]:
    """Yield the lines of a fix in the section."""
    yield f"{number}. {fix.text}"
    if fix.command is not None:
        yield f"   {'?' if fix.kind == 'look' else '$'} {fix.command}"


def _example(text: str) -> Example:
    machine, changes = "h200", []
    summary: list[str] = []
    for line in text.splitlines():
        if summary:
            summary.append(line.strip())
        elif line.startswith("-> "):
            summary.append(line[3:].strip())
        elif match := re.fullmatch(r"machine: (\S+)", line):
            machine = match[1]
        elif match := re.fullmatch(r"([\w.\[\]-]+) = (.+)", line):
            import json  # a check reads no example

            changes.append((match[1], json.loads(match[2])))
        elif line.strip():
            raise ValueError(f"invalid line in an example: {line!r}")
    if not summary:
        raise ValueError("an example has no '-> ' line")
    return Example(machine=machine, changes=tuple(changes), summary=" ".join(summary))
