"""The fleet as one page that needs nothing else: a heat map of the nodes, and a table that filters and sorts."""

import html
import pkgutil

import msgspec

from gpucheck.fleet.model import Fleet, FleetCause
from gpucheck.reports.shared.limited_text import plain

MARK = "@DATA@"
CAUSES = "@CAUSES@"
SEVERITIES = ("error", "warning")


def render(fleet: Fleet) -> str:
    """A whole HTML document; what nodes say about themselves is data in it, never markup."""
    template = (pkgutil.get_data(__package__, "fleet.html") or b"").decode()
    # In a script nothing ends it but "</", and "<!--" may open a comment.
    data = msgspec.json.encode(fleet).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    causes = "".join(map(_cause, fleet.causes))
    return template.replace(CAUSES, causes or "<li>none</li>").replace(MARK, data)


def _cause(one: FleetCause) -> str:
    where = f"<b>{_text(one.code)}</b> on {one.count:,}: <code>{_text(one.nodes)}</code>"
    return f"<li class={one.severity}>{where}<br>{_text(one.example)}</li>" if one.severity in SEVERITIES else ""


def _text(text: str) -> str:
    return html.escape(plain(text))
