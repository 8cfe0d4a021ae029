"""Write the generated pages of the docs: diagnoses, lint codes, commands, what to install, and the schemas.

``make docs`` runs this. A test fails if a generated file is out of date.
"""

import io
import json
import pathlib
import re
import sys
from collections.abc import Sequence

from click.testing import CliRunner

from gpucheck.cli.group import cli, sections
from gpucheck.commands.explain.page import title
from gpucheck.commands.fleet.formats.json import schema as fleet_schema
from gpucheck.commands.lint.pages import ROWS
from gpucheck.commands.lint.pages import load_rules as load_lint_rules
from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.engine.schema import schema
from gpucheck.core.model.plugin import Row, Rule

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import setup_table  # in this folder; tests import build.py from another one
import wheels_table
from diagnosis_page import markdown

DOCS = pathlib.Path(__file__).resolve().parent
INTRODUCTION = """\
# Diagnoses

Each code identifies one root cause, and is never renamed. `gpucheck explain CODE` prints a page, and `gpucheck rules` this table.
To find the cause of an error message, search this site for it, or run `gpucheck explain "MESSAGE"`. For a log, run
`gpucheck explain FILE`.

"""


COMMANDS = """\
# Commands

The output of `gpucheck COMMAND --help` for every command. `gpucheck` alone is `gpucheck check`.
"""
EXAMPLES = {  # recorded outputs, below ../tests
    "gpucheck check": "golden/reports/cuda-libraries-unreachable/terminal.txt",
    "gpucheck setup": "golden/setup/cpu/terminal.txt",
    "gpucheck env": "golden/env/cuda-libraries-unreachable.sh",
    "gpucheck bench": "bench/golden/all-well.terminal",
}
WIDTH = 104  # columns of a picture; longer lines are cut
LINT = """\
# Lint codes

`gpucheck lint` finds these mistakes in training scripts and notebooks, without running them.
`gpucheck explain CODE` prints a page.

| code | severity | mistake |
| --- | --- | --- |
"""


def lint_pages() -> dict[str, str]:
    """Return the pages of the lint rules, and their table."""
    made, rows = {}, []
    for rule in load_lint_rules():
        parsed = manual.page_of(rule)
        made[f"lint/{rule.code}.md"] = markdown(parsed, rule, ROWS[rule.row], folder="../diagnoses/")
        rows.append(f"| [{rule.code}]({rule.code}.md) | {rule.severity.value} | {parsed.title} |\n")
    return {"lint/README.md": LINT + "".join(rows), **made}


def commands() -> str:
    """Return the page with the help text of every command."""
    runner = CliRunner(env={"COLUMNS": "100"})
    names = [
        [],
        *([name] for part in sections().values() for name in part),
        *(["fleet", name] for name in ("run", "train", "merge", "schema")),
    ]
    printed = {
        " ".join(["gpucheck", *name]): runner.invoke(cli, [*name, "--help"], prog_name="gpucheck").stdout for name in names
    }
    return COMMANDS + "".join(f"\n## {name}\n\n{block(text)}{example(name)}" for name, text in printed.items())


def block(text: str) -> str:
    """Return a text as a code block."""
    return f"```text\n{text.rstrip()}\n```\n"


def example(command: str) -> str:
    """Return what a command printed in a test; "" if none was recorded."""
    path = EXAMPLES.get(command)
    return (
        ""
        if path is None
        else f"\nExample output, from a test:\n\n{block((DOCS.parent / 'tests' / path).read_text(encoding='utf-8'))}"
    )


def diagnoses(rules: Sequence[Rule], rows: dict[str, Row]) -> str:
    """Return a table of the codes for each problem."""
    parts = []
    for name, row in rows.items():
        own = [rule for rule in rules if rule.row == name]
        meanings = [title(rule).replace("|", "\\|") for rule in own]
        codes = [f"| [{rule.code}]({rule.code}.md) | {rule.severity.value} | " for rule in own]
        lines = [f"{code}{meaning} |\n" for code, meaning in zip(codes, meanings, strict=True)]
        first = f"First check: {row.first_check}. Then: {row.action}."
        parts.append(f"## {row.problem}\n\n{first}\n\n| code | severity | meaning |\n| --- | --- | --- |\n{''.join(lines)}")
    return "\n".join(parts)


def files() -> dict[str, str]:
    """Return the text of every generated file by its path below this folder."""
    rules, rows = load_rules(), load_rows()
    made = {
        "report.schema.json": json.dumps(schema(), indent=2, ensure_ascii=False) + "\n",
        "fleet.schema.json": json.dumps(fleet_schema(), indent=2, ensure_ascii=False) + "\n",
        "setup.md": setup_table.page(),
        "wheels.md": wheels_table.page(),
        "commands.md": commands(),
        "diagnoses/README.md": INTRODUCTION + diagnoses(rules, rows),
    }
    for rule in rules:
        parsed = manual.page_of(rule)
        made[f"diagnoses/{rule.code}.md"] = markdown(parsed, rule, rows[rule.row])
    return {**made, **lint_pages()}


def transcripts() -> dict[str, str]:
    """README with its transcript, and two as SVG. What rich draws differs between versions, so no test compares pictures."""
    from rich.console import Console
    from rich.text import Text

    sys.path.insert(0, str(DOCS.parent / "tests"))
    from test_readme import failure, readme, success

    made = {"../README.md": readme()}
    for name, text in (("fail", failure(color=True)), ("pass", success(color=True))):
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
        console.print(Text.from_ansi(text), no_wrap=True, overflow="ellipsis")
        drawn = console.export_svg(title="gpucheck" + " --allow-cpu" * (name == "pass"), unique_id=f"gpucheck-{name}")
        made[f"pictures/{name}.svg"] = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)  # loads from the network
    return made


def write(folder: pathlib.Path, wanted: dict[str, str]) -> None:
    """Write what changed into a folder, and remove the pages of codes that are gone."""
    for path in [*folder.glob("diagnoses/*.md"), *folder.glob("lint/*.md")]:
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(DOCS, files() | transcripts())
