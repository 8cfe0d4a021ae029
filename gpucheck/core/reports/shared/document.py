"""An HTML document in the style of the report, for the results of commands."""

import html
import pkgutil

HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"""


def document(title: str, heading: str, body: str, below: str = "") -> str:
    """Return a self-contained page.

    Args:
        title: title of the browser's tab, as text.
        heading: the conclusion, as text.
        body: the body, as HTML.
        below: text below the heading, as HTML.
    """
    style = (pkgutil.get_data("gpucheck.core.reports", "report.css") or b"").decode()
    header = f"<header><h1>{html.escape(heading)}</h1>{below}</header>"
    return f"{HEAD}<title>{html.escape(title)}</title>\n<style>\n{style}</style>\n{header}\n<main>{body}</main>\n</html>\n"
