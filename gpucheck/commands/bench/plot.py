"""Plot a benchmark with matplotlib, without a display.

Side by side: throughput by batch size, scaling, and input pipeline compared with the device, if measured. Below, if NVML was
sampled: the load of the GPUs over time. A configuration has the same number in the last two panels.
"""

import io
from typing import Any

from gpucheck.cli import installation
from gpucheck.commands.bench.figures import comparison_key, one_global_batch
from gpucheck.commands.bench.model import Measurement, Result, Sample

KINDS = (".png", ".svg")
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")  # Okabe and Ito: safe for color blindness
MARKERS = "osD^vPX"
DASHES = ("-", "-.", ":")  # "--" is the ideal line
SOURCES = (  # light colors keep error bars visible, hatching distinguishes them in print without color
    ("input pipeline", "samples_per_second", -0.2, {"color": "#56b4e9"}),
    ("one resident batch", "device_samples_per_second", 0.2, {"color": "#f0c566", "hatch": "///", "edgecolor": "#ffffff"}),
)
LOADS = (("utilization_percent", "busy (%)"), ("power_watts", "power (W)"), ("sm_clock_mhz", "clock (MHz)"))
TITLE_PAD = 24  # points; leaves room for a legend between a title and its panel
BAND_SHARE_MIN = 0.012  # share of the time axis; a narrower band has no room for its number
LEGEND_LINES_MAX = 6  # a longer legend would cover the plot, so it is placed below
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "gpucheck", "font.size": 10, "text.parse_math": False}


def missing() -> str | None:
    """Return why plots can't be drawn, to check before measuring; None if they can."""
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        return f"matplotlib is not installed; run: {installation.extra_command('plot')}"
    except Exception as error:  # for example, compiled for another numpy
        return f"matplotlib can't be imported: {type(error).__name__}: {error}"
    return None


def draw(result: Result, kind: str) -> bytes | None:
    """Return the plot as a file; None if nothing was measured.

    Args:
        result: the benchmark.
        kind: ".png" or ".svg".
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    measured = [item for item in result.measurements if item.samples_per_second is not None]
    if not measured:
        return None
    several_batches = len(set(_batches(measured)[1])) > 1
    scaled = any(item.scaling_efficiency_percent is not None for item in measured)
    panels = [panel for panel, drawn in ((draw_batches, several_batches), (draw_scaling, scaled), (_pipeline, True)) if drawn]
    loads = [(field, label) for field, label in LOADS if any(getattr(item, field) is not None for item in result.samples)]
    heights = [max(4.4, 1.6 + 0.55 * len(measured)), *[1.1 + 1.3 * len(loads) for _ in loads[:1]]]
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(6.4 * len(panels), sum(heights)), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.add_gridspec(len(heights), len(panels), height_ratios=heights)
        for place, panel in enumerate(panels):
            panel(_axes(figure, grid[0, place]), measured)
        if loads:
            places = grid[1, :].subgridspec(len(loads), 1)
            draw_over_time([_axes(figure, places[row]) for row in range(len(loads))], loads, measured, result.samples)
        versions = ", ".join(f"{name} {version}" for name, version in result.versions.items() if name != "python")
        figure.suptitle(f"{'; '.join(result.hardware)}; {versions}", fontsize=9, color="#444444")
        file = io.BytesIO()
        figure.savefig(file, format=kind[1:], dpi=150, metadata={"Date": None} if kind == ".svg" else None)
    return file.getvalue()


def _axes(figure: Any, place: Any) -> Any:
    axes = figure.add_subplot(place)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    return axes


def _batches(measured: list[Measurement]) -> tuple[str, list[int]]:
    """Return the name and values of the batch axis: the global batch if devices share it, otherwise the batch per replica."""
    if one_global_batch(measured):
        return "global batch", [measurement.global_batch_size or 0 for measurement in measured]
    return "batch per replica", [measurement.batch_size for measurement in measured]


def draw_batches(axes: Any, measured: list[Measurement]) -> None:
    """Draw a line per configuration over the batch size."""
    unit, batches = _batches(measured)
    lines: dict[str, list[tuple[int, Measurement]]] = {}
    for batch, measurement in zip(batches, measured, strict=True):
        name = f"{measurement.strategy} × {len(measurement.devices)}{_variant(measurement, measured)}"
        lines.setdefault(name, []).append((batch, measurement))
    for number, (name, points) in enumerate(lines.items()):
        points.sort(key=lambda point: point[0])
        _line(axes, number, name, [batch for batch, _ in points], [measurement for _, measurement in points])
    sizes = sorted(set(batches))
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    _finish(axes, "Throughput by batch size", unit)


def draw_scaling(axes: Any, measured: list[Measurement]) -> None:
    """Draw the throughput by number of devices, with the ideal line: one device times that number."""
    unit, batches = _batches(measured)
    kind = "strong" if one_global_batch(measured) else "weak"
    lines: dict[tuple[Any, ...], dict[int, Measurement]] = {}
    for measurement in measured:  # the first of a count is kept: one_device takes precedence over mirrored on one device
        lines.setdefault(comparison_key(measurement, kind), {}).setdefault(len(measurement.devices), measurement)
    compared = [(key, by_count) for key, by_count in lines.items() if 1 in by_count and len(by_count) > 1]
    for number, (key, by_count) in enumerate(compared):
        counts = sorted(by_count)
        name = (f"batch {key[-1]}" if len(set(batches)) > 1 else "measured") + _variant(by_count[1], measured)
        percents = [(count, by_count[count].scaling_efficiency_percent) for count in counts[1:]]
        words = ", ".join(f"{percent:.0f} % on {count}" for count, percent in percents if percent is not None)
        _line(axes, number, f"{name}: {words}", counts, [by_count[count] for count in counts])
        alone = by_count[1].samples_per_second
        ideal = [alone.median * count for count in counts] if alone else []
        color = COLORS[number % len(COLORS)]
        label = None if number else "ideal"
        axes.plot(counts, ideal, linestyle="--", linewidth=1.2, color=color, alpha=0.6, label=label, zorder=1)
    ticks = sorted({len(measurement.devices) for measurement in measured})
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    _finish(axes, f"Scaling, {kind}: the same {unit}", "devices", "scaling efficiency")


def _pipeline(axes: Any, measured: list[Measurement]) -> None:
    """Draw two bars per configuration: with the input pipeline, and with a resident batch."""
    for name, field, offset, style in SOURCES:
        spreads = [getattr(measurement, field) for measurement in measured]
        axes.barh(
            [place + offset for place in range(len(measured))],
            [spread.median for spread in spreads],
            0.38,
            xerr=_error_bars(spreads),
            label=name,
            error_kw={"elinewidth": 1, "capsize": 2},
            **style,
        )
    names = [
        f"{number}: {each.strategy} × {len(each.devices)}\nbatch {each.batch_size}{_variant(each, measured)}"
        for number, each in enumerate(measured, 1)
    ]
    axes.set_yticks(range(len(measured)), names)
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_xlim(left=0)
    axes.set_title("Input pipeline and device", pad=TITLE_PAD)
    axes.set_xlabel("samples/s (median, minimum to maximum)")
    axes.legend(frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1), borderpad=0.2, ncols=2)


def draw_over_time(
    rows: list[Any], loads: list[tuple[str, str]], measured: list[Measurement], samples: tuple[Sample, ...]
) -> None:
    """Draw a row per reading with a line per GPU; numbered bands show the measured steps of each configuration."""
    last = max(item.seconds for item in samples)
    devices = list(dict.fromkeys(item.device for item in samples))
    for axes, (field, label) in zip(rows, loads, strict=True):
        for number, device in enumerate(devices):
            points = [(item.seconds, getattr(item, field)) for item in samples if item.device == device]
            present = [(seconds, value) for seconds, value in points if value is not None]
            style = {"color": COLORS[number % len(COLORS)], "linestyle": DASHES[number // len(COLORS) % len(DASHES)]}
            axes.plot(*zip(*present, strict=True) if present else ([], []), linewidth=1, label=device, **style)
        for number, item in enumerate(measured, 1):
            if item.began_seconds is None or item.ended_seconds is None:
                continue
            axes.axvspan(item.began_seconds, item.ended_seconds, color="#000000", alpha=0.08, linewidth=0)
            if axes is rows[0] and item.ended_seconds - item.began_seconds > BAND_SHARE_MIN * last:
                middle = (item.began_seconds + item.ended_seconds) / 2
                axes.annotate(str(number), (middle, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=8)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0, top=105 if field == "utilization_percent" else None)
        axes.set_xlim(0, last)
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.tick_params(labelbottom=axes is rows[-1])
    rows[0].set_title("GPUs over time (grey: measured steps, by configuration)", pad=16)
    rows[-1].set_xlabel("seconds since the start")
    rows[-1].legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.45), ncols=min(len(devices), 8))


def _line(axes: Any, number: int, name: str, positions: list[int], points: list[Measurement]) -> None:
    spreads = [item.samples_per_second for item in points]
    turn, color = divmod(number, len(COLORS))  # when colors repeat, markers and dashes change
    style = {
        "color": COLORS[color],
        "marker": MARKERS[(number + turn) % len(MARKERS)],
        "markersize": 5,
        "linestyle": DASHES[turn % len(DASHES)],
    }
    medians = [item.median for item in spreads if item]
    axes.errorbar(positions, medians, yerr=_error_bars(spreads), label=name, capsize=3, linewidth=1.5, **style)


def _error_bars(spreads: list[Any]) -> list[list[float]]:
    """Return the distances of minimum and maximum from the median."""
    return [[spread.median - spread.minimum for spread in spreads], [spread.maximum - spread.median for spread in spreads]]


def _variant(measurement: Measurement, measured: list[Measurement]) -> str:
    """Return the settings in which a configuration differs from others."""
    words = measurement.precision if len({other.precision for other in measured}) > 1 else ""
    xla = ("XLA" if measurement.xla else "no XLA") if len({other.xla for other in measured}) > 1 else ""
    executed = f"{measurement.steps_per_execution} at once" if len({one.steps_per_execution for one in measured}) > 1 else ""
    return "".join(f", {word}" for word in (words, xla, executed) if word)


def _finish(axes: Any, title: str, label: str, legend: str | None = None) -> None:
    axes.set_title(title, pad=TITLE_PAD)
    axes.set_xlabel(label)
    axes.set_ylabel("samples/s (median, minimum to maximum)")
    axes.set_ylim(bottom=0)
    axes.grid(color="#dddddd", linewidth=0.6)
    fits = len(axes.get_legend_handles_labels()[1]) <= LEGEND_LINES_MAX
    place = {} if fits else {"loc": "upper left", "bbox_to_anchor": (0, -0.12)}
    axes.legend(frameon=False, fontsize=9, title=legend, title_fontsize=9, alignment="left", **place)
