import io
import xml.etree.ElementTree

import pytest
from bench.cases import names, one, result

from gpucheck.bench.figures import measurement
from gpucheck.bench.plan import item

pytest.importorskip("matplotlib")
from gpucheck.bench import plot


def words(drawn):
    return " ".join(node.text or "" for node in xml.etree.ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text"))


def test_svg_has_the_panels_and_the_ideal_line():
    shown = words(plot.draw(result(), ".svg"))
    for text in (
        "Throughput by batch size",
        "Scaling",
        "ideal",
        "batch 64: 100 % on 2",
        "Input pipeline against device",
        "NVIDIA H200",
    ):
        assert text in shown


def test_only_panels_with_data():
    shown = words(plot.draw(result([one()]), ".svg"))
    assert "Input pipeline against device" in shown
    assert "Scaling" not in shown
    assert "by batch size" not in shown


def test_no_scaling_without_one_device():
    assert "Scaling" not in words(plot.draw(result([one(2), one(4)]), ".svg"))


def test_png_is_one():
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(plot.draw(result(), ".png")))
    assert pixels.shape[0] > 400
    assert pixels.std() > 0.05


def test_nothing_measured():
    assert plot.draw(result([measurement(item("mirrored", names(2), "float32", False, 64), None, "interrupted")]), ".svg") is None


def test_variants_are_told_apart():
    shown = words(plot.draw(result([one(), one(xla=True), one(precision="mixed_float16")]), ".svg"))
    assert "float32, no XLA" in shown
    assert "mixed_float16, no XLA" in shown


def test_the_ideal_line_is_one_device_times_their_number():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    plot._scaling(axes, result([one(), one(2), one(8)]).measurements)
    (ideal,) = (line for line in axes.get_lines() if line.get_label() == "ideal")
    assert list(ideal.get_xdata()) == [1, 2, 8]
    assert list(ideal.get_ydata()) == pytest.approx([320, 640, 2560])
