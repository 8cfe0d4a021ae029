"""The summary as HTML, Markdown and JSON."""

import html
from collections.abc import Sequence

import msgspec

from gpucheck.commands.watch.summary import Summary, devices, figures, seconds
from gpucheck.core.system.write import OutputFile

WIDTH, HEIGHT, GAP = 480, 80, 2  # of the plot, in pixels
MOST_BARS = 120


def write(summary: Summary, path: str) -> None:
    """Write a report of the kind that the file's name ends in: .json, .md or .html. Raises OSError."""
    if path.endswith(".json"):
        text = msgspec.json.format(msgspec.json.encode(summary), indent=2).decode() + "\n"
    elif path.endswith(".md"):
        text = markdown(summary)
    else:
        head = '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>gpucheck: training</title>'
        text = f"{head}\n<body>{fragment(summary)}</body></html>\n"
    OutputFile(path).commit(text)


def markdown(summary: Summary) -> str:
    """Return a list of the figures, and the limit."""
    rows = "".join(f"- {text}\n" for text in [*figures(summary), *devices(summary)])
    return f"# Training\n\n{rows}" + (f"\n{summary.limit}\n" if summary.limit is not None else "")


def fragment(summary: Summary) -> str:
    """Return HTML without a head, for a notebook."""
    rows = "".join(f"<li>{html.escape(text)}</li>" for text in [*figures(summary), *devices(summary)])
    limit = "" if summary.limit is None else f"<p>{html.escape(str(summary.limit))}</p>"
    return f"<ul>{rows}</ul>{limit}{plot(summary.epoch_seconds)}"


def plot(epochs: Sequence[float]) -> str:
    """Return a bar for each of the last epochs, as SVG; its height is the epoch's time."""
    shown = list(epochs)[-MOST_BARS:]
    if len(shown) < 2:
        return ""
    first, longest = len(epochs) - len(shown) + 1, max(shown) or 1.0
    step = WIDTH / len(shown)
    bars = "".join(
        f'<rect x="{place * step:.1f}" y="{HEIGHT - HEIGHT * value / longest:.1f}" width="{max(step - GAP, 1):.1f}"'
        f' height="{HEIGHT * value / longest:.1f}"><title>epoch {first + place}: {seconds(value)}</title></rect>'
        for place, value in enumerate(shown)
    )
    label = f"Seconds of each epoch, at most {seconds(longest)}"
    svg = f'<svg role="img" aria-label="{label}" width="{WIDTH}" height="{HEIGHT}" fill="#4c78a8">{bars}</svg>'
    return f"<figure>{svg}<figcaption>{label}</figcaption></figure>"
