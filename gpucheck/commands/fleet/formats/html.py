"""The fleet as a self-contained HTML page: a heat map of the nodes, and a table that can be filtered and sorted."""

import html
import pkgutil
import re
from collections.abc import Iterator

import msgspec

from gpucheck.commands.fleet.formats import terminal, training_lines
from gpucheck.commands.fleet.model import Fleet, FleetCause, FleetLink, FleetTraining
from gpucheck.core.model.wording import milliseconds
from gpucheck.core.reports.shared.limited_text import plain
from gpucheck.core.reports.shared.words import plural

MARKS = re.compile("@(VERDICT|STYLE|CONCLUSION|READ|NOTICE|CAUSES|TRAINING|OTHER|DATA)@")
ALL = 1 << 20
SEVERITIES = ("error", "warning")
REDACTED = "Redacted for sharing: aliases such as host-1 replace names. Without --redact, the page shows the real names."


def render(fleet: Fleet) -> str:
    """Render an HTML document; text from nodes is data in it, never markup."""
    template = (pkgutil.get_data(__package__, "fleet.html") or b"").decode()
    # Only "</" ends a script, and "<!--" may open a comment.
    data = plain(msgspec.json.encode(fleet).decode()).replace("<", "\\u003c")
    parts = {
        "VERDICT": fleet.verdict,
        "STYLE": (pkgutil.get_data("gpucheck.core.reports", "report.css") or b"").decode(),
        "CONCLUSION": _text(terminal.conclusion(fleet)),
        "READ": _text(f"gpucheck {fleet.tool['version']} · {plural(fleet.files, 'report')} · exit code {fleet.exit_code}"),
        "NOTICE": f'<p class="notice">{REDACTED}</p>' if fleet.redacted else "",
        "CAUSES": "".join(map(_cause, fleet.causes)) or "<p>None.</p>",
        "OTHER": "".join(f"<li>{_text(text)}</li>" for text in _other_problems(fleet)) or "<li>nothing</li>",
        "TRAINING": "" if fleet.training is None else _trained(fleet.training),
        "DATA": data,
    }
    return MARKS.sub(lambda mark: parts[mark[1]], template)


def _trained(training: FleetTraining) -> str:
    """Render the lines of the terminal for all workers, and all links, the slowest first."""
    lines = training_lines.lines(training, len(training.workers))
    items = "".join(f"<li{' class=error' * (style == 'fail')}><b>{label}</b> {_text(text)}</li>" for label, style, text in lines)
    links = "".join(map(_link, sorted(training.links, key=lambda one: -one.seconds)))
    head = "<thead><tr><th>nodes</th><th>sum (all-reduce)</th><th>size</th></tr></thead>"
    table = (
        f"<details><summary>Links, the slowest first</summary><table id=links>{head}{links}</table></details>" if links else ""
    )
    return f"<h2>Training together</h2><ul id=training>{items}</ul>{table}"


def _link(one: FleetLink) -> str:
    cells = (" – ".join(one.nodes), milliseconds(one.seconds), f"{one.sum_bytes / 1e6:.3g} MB")
    return f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>"


def _cause(one: FleetCause) -> str:
    if one.severity not in SEVERITIES:
        return ""
    nodes = _text(one.nodes).replace(",", ",<wbr>")
    where = f"<h3>{_text(one.code)} on {plural(one.count, 'node')}</h3><p><code>{nodes}</code></p>"
    first = f"<p>{_text(one.example_node)}: {_text(one.example)}</p>"
    command = f"<h4>Do</h4><pre>{_text(one.command)}</pre>" if one.command is not None else ""
    page = f'<p class="meta">More: <code>gpucheck explain {_text(one.code)}</code></p>'
    return f'<article class="card {one.severity}">{where}{first}{command}{page}</article>'


def _other_problems(fleet: Fleet) -> Iterator[str]:
    """Yield all problems except the root causes; the terminal lists only some."""
    for label, _, text in (*terminal.unchecked(fleet, ALL), *terminal.differences(fleet, ALL)):
        yield f"{label}: {text}"


def _text(text: str) -> str:
    return html.escape(plain(text))
