"""Pictures of a benchmark, drawn by matplotlib without a display: throughput by batch size, scaling, pipeline against device."""

import io
from typing import Any

from gpucheck.bench.model import Measurement, Result

KINDS = (".png", ".svg")
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")  # Okabe and Ito: told apart by everybody
MARKERS = "osD^vPX"
MISSING = 'matplotlib is not installed; `pip install "keras-gpucheck[html]"` brings it'
MOST_LINES = 10
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "gpucheck", "font.size": 10, "text.parse_math": False}


def missing() -> str | None:
    """Why nothing can be drawn, before anything is measured; None: all is there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        return MISSING
    except Exception as error:  # compiled for another numpy, say
        return f"matplotlib is broken here: {type(error).__name__}: {error}"
    return None


def draw(result: Result, kind: str) -> bytes | None:
    """The picture's file; None if nothing was measured.

    Args:
        result: the benchmark.
        kind: ".png" or ".svg".
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    measured = [one for one in result.measurements if one.samples_per_second is not None]
    panels = [
        panel for panel, drawn in ((_batches, _several(measured)), (_scaling, _scaled(measured)), (_pipeline, measured)) if drawn
    ]
    if not measured:
        return None
    with matplotlib.rc_context(SETTINGS):
        rows = len(measured)
        figure = Figure(figsize=(6.4 * len(panels), max(4.4, 1.6 + 0.55 * rows)), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            panel(axes, measured)
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_axisbelow(True)
        versions = ", ".join(f"{name} {version}" for name, version in result.versions.items() if name != "python")
        figure.suptitle(f"{'; '.join(result.hardware)}; {versions}", fontsize=9, color="#444444")
        file = io.BytesIO()
        figure.savefig(file, format=kind[1:], dpi=150, metadata={"Date": None} if kind == ".svg" else None)
    return file.getvalue()


def _several(measured: list[Measurement]) -> bool:
    return len({one.batch_size for one in measured}) > 1


def _scaled(measured: list[Measurement]) -> bool:
    return any(one.scaling_efficiency_percent is not None for one in measured)


def _batches(axes: Any, measured: list[Measurement]) -> None:
    """A line per configuration, batch size along."""
    lines: dict[str, list[Measurement]] = {}
    for one in measured:
        lines.setdefault(f"{one.strategy} × {len(one.devices)}{_variant(one, measured)}", []).append(one)
    for number, (name, points) in enumerate(list(lines.items())[:MOST_LINES]):
        points.sort(key=lambda one: one.batch_size)
        _line(axes, number, name, [one.batch_size for one in points], points)
    sizes = sorted({one.batch_size for one in measured})
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    _dress(axes, "Throughput by batch size", "batch per replica")


def _scaling(axes: Any, measured: list[Measurement]) -> None:
    """Throughput by the number of devices, against that of one times their number."""
    lines: dict[tuple[Any, ...], list[Measurement]] = {}
    for one in measured:
        lines.setdefault((one.precision, one.xla, one.batch_size), []).append(one)
    number = 0
    for points in list(lines.values())[:MOST_LINES]:
        by_count = {len(one.devices): one for one in reversed(points)}  # the first of a number: one_device before mirrored
        counts = sorted(by_count)
        if 1 not in by_count or len(counts) < 2:
            continue
        several = len({one.batch_size for one in measured}) > 1
        name = (f"batch {points[0].batch_size}" if several else "measured") + _variant(points[0], measured)
        percents = [(count, by_count[count].scaling_efficiency_percent) for count in counts[1:]]
        words = ", ".join(f"{percent:.0f} % on {count}" for count, percent in percents if percent is not None)
        _line(axes, number, f"{name}: {words}", counts, [by_count[count] for count in counts])
        alone = by_count[1].samples_per_second
        ideal = [alone.median * count for count in counts] if alone else []
        color = COLORS[number % len(COLORS)]
        axes.plot(
            counts, ideal, linestyle="--", linewidth=1.2, color=color, alpha=0.6, label=None if number else "ideal", zorder=1
        )
        number += 1
    ticks = sorted({len(one.devices) for one in measured})
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    _dress(axes, "Scaling", "devices")


def _pipeline(axes: Any, measured: list[Measurement]) -> None:
    """Two bars per configuration: on the input pipeline, and on a resident batch."""
    sources = (("input pipeline", "samples_per_second", -0.2), ("one resident batch", "device_samples_per_second", 0.2))
    for (name, field, offset), color in zip(sources, COLORS, strict=False):
        spreads = [getattr(one, field) for one in measured]
        axes.barh(
            [place + offset for place in range(len(measured))],
            [spread.median for spread in spreads],
            0.38,
            xerr=_ends(spreads),
            label=name,
            color=color,
            error_kw={"elinewidth": 1, "capsize": 2},
        )
    names = [f"{one.strategy} × {len(one.devices)}\nbatch {one.batch_size}{_variant(one, measured)}" for one in measured]
    axes.set_yticks(range(len(measured)), names)
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_xlim(left=0)
    axes.set_title("Input pipeline against device")
    axes.set_xlabel("samples/s (median, least to most)")
    axes.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)


def _line(axes: Any, number: int, name: str, along: list[int], points: list[Measurement]) -> None:
    spreads = [one.samples_per_second for one in points]
    style = {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)], "markersize": 5}
    axes.errorbar(
        along, [one.median for one in spreads if one], yerr=_ends(spreads), label=name, capsize=3, linewidth=1.5, **style
    )


def _ends(spreads: list[Any]) -> list[list[float]]:
    """Distances of least and most from the median."""
    return [[one.median - one.minimum for one in spreads], [one.maximum - one.median for one in spreads]]


def _variant(one: Measurement, measured: list[Measurement]) -> str:
    """What tells a configuration from the others, where they differ in it."""
    words = one.precision if len({other.precision for other in measured}) > 1 else ""
    xla = ("XLA" if one.xla else "no XLA") if len({other.xla for other in measured}) > 1 else ""
    return "".join(f", {word}" for word in (words, xla) if word)


def _dress(axes: Any, title: str, below: str) -> None:
    axes.set_title(title)
    axes.set_xlabel(below)
    axes.set_ylabel("samples/s (median, least to most)")
    axes.set_ylim(bottom=0)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.legend(frameon=False, fontsize=9)
