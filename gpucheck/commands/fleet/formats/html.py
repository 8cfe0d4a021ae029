"""The fleet as a self-contained HTML page: a heat map of the nodes, and a table that can be filtered and sorted."""

import html
import pkgutil
import re

import msgspec

from gpucheck.commands.fleet.formats import training_lines
from gpucheck.commands.fleet.model import Fleet, FleetCause, FleetLink, FleetTraining
from gpucheck.core.reports.shared.limited_text import plain

MARKS = re.compile("@(CAUSES|TRAINING|DATA)@")
SEVERITIES = ("error", "warning")


def render(fleet: Fleet) -> str:
    """Render an HTML document; text from nodes is data in it, never markup."""
    template = (pkgutil.get_data(__package__, "fleet.html") or b"").decode()
    # Only "</" ends a script, and "<!--" may open a comment.
    data = msgspec.json.encode(fleet).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    parts = {
        "CAUSES": "".join(map(_cause, fleet.causes)) or "<li>none</li>",
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
    cells = (" – ".join(one.nodes), f"{one.seconds * 1e3:.3g} ms", f"{one.sum_bytes / 1e6:.3g} MB")
    return f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>"


def _cause(one: FleetCause) -> str:
    where = f"<b>{_text(one.code)}</b> on {one.count:,}: <code>{_text(one.nodes)}</code>"
    return f"<li class={one.severity}>{where}<br>{_text(one.example)}</li>" if one.severity in SEVERITIES else ""


def _text(text: str) -> str:
    return html.escape(plain(text))
