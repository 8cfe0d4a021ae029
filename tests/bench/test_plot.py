import io
import xml.etree.ElementTree

import pytest
from bench.cases import names, one, result
from msgspec.structs import replace

from gpucheck.commands.bench.figures import measurement
from gpucheck.commands.bench.model import Sample
from gpucheck.core.child.messages.benchmark import Configuration

pytest.importorskip("matplotlib")
from gpucheck.commands.bench import plot


def texts(drawn):
    return " ".join(node.text or "" for node in xml.etree.ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"))


def test_svg_has_panels_and_ideal_line():
    shown = texts(plot.draw(result(), ".svg"))
    for text in (
        "Throughput by batch size",
        "Scaling",
        "ideal",
        "batch 64: 100 % on 2",
        "Input pipeline and device",
        "NVIDIA H200",
    ):
        assert text in shown


def test_only_panels_with_data():
    shown = texts(plot.draw(result([one()]), ".svg"))
    assert "Input pipeline and device" in shown
    assert "Scaling" not in shown
    assert "by batch size" not in shown


def test_strong_scaling_has_no_batch_panel():
    shown = texts(plot.draw(result([one(batch=128), one(2), one(batch=128, at_once=8), one(2, at_once=8)]), ".svg"))
    for text in ("Scaling, strong: the same global batch", "measured, 8 at once: 50 % on 2"):
        assert text in shown
    assert "by batch size" not in shown
    assert "Scaling, weak: the same batch per replica" in texts(plot.draw(result(), ".svg"))


def test_no_scaling_without_one_device():
    assert "Scaling" not in texts(plot.draw(result([one(2), one(4)]), ".svg"))


def test_every_line_has_its_own_style():
    from matplotlib.figure import Figure

    many = [replace(one(batch=size), precision=f"precision {n}") for n in range(24) for size in (16, 32)]
    axes = Figure().subplots()
    plot.draw_batches(axes, many)
    lines = [container.lines[0] for container in axes.containers]
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}) == 24
    assert len(axes.get_legend().get_texts()) == 24
    assert axes.get_legend().get_window_extent().y1 < axes.get_window_extent().y0  # below the plot, so it covers no line


def over_time(**changes):
    """Return a result with two GPUs over ten seconds, and two configurations."""
    samples = tuple(
        Sample(seconds=moment / 5, device=f"GPU:{gpu}", utilization_percent=90.0, **changes)
        for moment in range(51)
        for gpu in range(2)
    )
    measured = [
        replace(one(), began_seconds=2.0, ended_seconds=4.0),
        replace(one(2), began_seconds=6.0, ended_seconds=9.0),
        replace(one(batch=128), began_seconds=9.5, ended_seconds=9.51),
    ]
    return result(measured, samples=samples)


def test_gpus_over_time_with_configurations():
    shown = texts(plot.draw(over_time(power_watts=400.0), ".svg"))
    for text in ("GPUs over time", "busy (%)", "power (W)", "seconds since the start", "GPU:0 GPU:1", "1: one_device × 1"):
        assert text in shown
    assert "clock (MHz)" not in shown  # NVML has no value
    assert "GPUs over time" not in texts(plot.draw(result(), ".svg"))


def test_bands_mark_the_measured_steps():
    from matplotlib.figure import Figure

    rows = list(Figure().subplots(2, 1))
    whole = over_time(sm_clock_mhz=1980.0)
    plot.draw_over_time(rows, [plot.LOADS[0], plot.LOADS[2]], list(whole.measurements), whole.samples)
    for axes in rows:
        bands = [patch.get_extents().transformed(axes.transData.inverted()) for patch in axes.patches]
        assert [(band.x0, band.x1) for band in bands] == [pytest.approx(ends) for ends in ((2, 4), (6, 9), (9.5, 9.51))]
        assert [line.get_label() for line in axes.get_lines()] == ["GPU:0", "GPU:1"]
    assert [text.get_text() for text in rows[0].texts] == ["1", "2"]  # the third band is too narrow for its number
    assert list(rows[1].get_lines()[0].get_ydata()) == [1980.0] * 51


def test_png_is_readable_and_not_blank():
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(plot.draw(result(), ".png")))
    assert pixels.shape[0] > 400
    assert pixels.std() > 0.05


def test_no_plot_without_measurements():
    assert (
        plot.draw(result([measurement(Configuration("mirrored", names(2), "float32", False, 64), None, "interrupted")]), ".svg")
        is None
    )


def test_variants_are_distinguished():
    shown = texts(plot.draw(result([one(), one(xla=True), one(precision="mixed_float16")]), ".svg"))
    assert "float32, no XLA" in shown
    assert "mixed_float16, no XLA" in shown


def test_ideal_line_is_the_single_device_rate_times_the_device_count():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    plot.draw_scaling(axes, result([one(), one(2), one(8)]).measurements)
    (ideal,) = (line for line in axes.get_lines() if line.get_label() == "ideal")
    assert list(ideal.get_xdata()) == [1, 2, 8]
    assert list(ideal.get_ydata()) == pytest.approx([320, 640, 2560])
