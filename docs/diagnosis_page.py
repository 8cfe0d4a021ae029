"""A diagnosis' page as Markdown. docs/build.py writes one for each code."""

import re

from gpucheck.commands.explain import page
from gpucheck.core.engine.manual import SECTIONS, Page
from gpucheck.core.model.plugin import Row, Rule

URL = re.compile(r"https?://\S+")
LIST_INDENT = "    "  # within an item: Python-Markdown, which builds the site, needs four spaces


def markdown(parsed: Page, rule: Rule, row: Row, folder: str = "") -> str:
    """Render the page as Markdown for the docs; ``folder``: the relative folder of the pages that it links."""
    lines = [
        f"# {parsed.code}",
        "",
        _escape(parsed.title),
        "",
        f"{row.problem} · {rule.severity.value} · scope: {rule.scope.value}",
    ]
    for name in SECTIONS:
        lines += ["", f"## {page.HEADINGS.get(name, name)}", ""]
        if name == "Symptom":
            lines += ["```text", *"\n".join(parsed.messages).splitlines(), "```"] if parsed.messages else []
            lines += [""] if parsed.messages and parsed.signs else []
            lines += [f"- {_escape(sign)}" for sign in parsed.signs]
        elif parsed.sections[name].startswith("bad:\n"):  # programs, of a lint rule
            lines += ["```python", *parsed.sections[name].splitlines(), "```"]
        elif name == "References":
            references = map(str.strip, parsed.sections[name].splitlines())
            lines += [URL.sub(r"<\g<0>>", f"- {reference}") for reference in references if reference]
        else:
            indent = ""
            for prose, commands in page.blocks(parsed, name):
                item = page.ITEM.match(prose)
                indent = LIST_INDENT if item else indent
                if prose:
                    lines += [_escape(prose)] if item else [*([""] if indent else []), indent + _escape(prose)]
                if commands:
                    lines += ["", f"{indent}```sh", *(indent + command for command in commands), f"{indent}```", ""]
    if rule.explains:
        lines += ["", f"## {page.ALSO}", "", *(f"- [{code}]({folder}{code}.md)" for code in rule.explains)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def _escape(prose: str) -> str:
    marker = item[0] if (item := page.ITEM.match(prose)) else ""
    return marker + re.sub(r"([<*`])", r"\\\1", prose[len(marker) :])
