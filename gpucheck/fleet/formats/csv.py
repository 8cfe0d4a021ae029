"""One line per node, for spreadsheets and databases."""

import csv
import io

from gpucheck.fleet.model import Fleet

COLUMNS = ("node", "verdict", "cause", "gpus", "started_at", "slow")


def render(fleet: Fleet) -> str:
    """RFC 4180, with a line of names first."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    slow = {one.node: f"{one.value / one.median:.2f}" for one in fleet.slow}
    for node in fleet.nodes:
        row = (node.name, node.verdict, node.cause or "", node.gpus, node.started_at, slow.get(node.name, ""))
        writer.writerow([_plain(value) for value in row])
    return text.getvalue()


def _plain(value: str) -> str:
    """A spreadsheet takes a text that begins so for a formula."""
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
