"""Write the generated part of the docs: one page per diagnosis, their table, what fits which machine, the report's schema.

``make docs`` runs this; a test fails where what is written differs from what the code says now.
"""

import json
import pathlib
import sys

from gpucheck.engine import manual
from gpucheck.engine.plugin import load_rows, load_rules
from gpucheck.engine.schema import schema
from gpucheck.fleet.schema import schema as fleet_schema
from gpucheck.reports import page, table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import setup_table  # a neighbour, which tests load from elsewhere

DOCS = pathlib.Path(__file__).resolve().parent
INTRODUCTION = """\
# Diagnoses

One code names one root cause. `gpucheck explain CODE` prints a page, `gpucheck rules` this table. A code is never renamed.

"""


def files() -> dict[str, str]:
    """Every generated file by its path below this folder."""
    rules, rows = load_rules(), load_rows()
    made = {
        "report.schema.json": json.dumps(schema(), indent=2, ensure_ascii=False) + "\n",
        "fleet.schema.json": json.dumps(fleet_schema(), indent=2, ensure_ascii=False) + "\n",
        "setup.md": setup_table.page(),
        "diagnoses/README.md": INTRODUCTION + table.render_markdown(rules, rows, folder=""),
    }
    for rule in rules:
        parsed = manual.page(rule.code, rule.doc)
        made[f"diagnoses/{rule.code}.md"] = page.render_markdown(parsed, rule, rows[rule.row])
    return made


def main() -> None:
    """Write what changed, and remove the pages of codes that are gone."""
    wanted = files()
    for path in DOCS.glob("diagnoses/*.md"):
        if path.relative_to(DOCS).as_posix() not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = DOCS / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
