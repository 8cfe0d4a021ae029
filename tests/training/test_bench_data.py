"""The data that the measuring child accepts."""

import pytest
from in_tensorflow import MARKS, found_by

from gpucheck.core.training import bench_data

np = pytest.importorskip("numpy")

IMAGES, LABELS = np.zeros((6, 32, 32, 3), "uint8"), np.arange(6)


def stored(tmp_path, **arrays):
    np.savez(tmp_path / "data.npz", **arrays)
    return str(tmp_path / "data.npz")


def test_valid_arrays_are_loaded(tmp_path):
    for labels in (LABELS, LABELS[:, None], LABELS.astype("uint8")):
        images, found = bench_data.load(None, stored(tmp_path, x=IMAGES, y=labels))
        assert images.shape == (6, 32, 32, 3)
        assert found.tolist() == list(range(6))
    assert bench_data.load(None, "synthetic") is None


@pytest.mark.parametrize(
    ("stored_as", "read_as"), [("longdouble", "float32"), ("float64", "float32"), (">u2", "uint16"), ("int64", "int64")]
)
def test_number_types_are_converted_to_types_of_tensorflow(stored_as, read_as, tmp_path):
    images, _ = bench_data.load(None, stored(tmp_path, x=IMAGES.astype(stored_as), y=LABELS))
    assert images.dtype == np.dtype(read_as)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": IMAGES}, "no array y; it holds x"),
        ({"a": IMAGES}, "no array x and no array y"),
        ({"x": IMAGES[:, :28], "y": LABELS}, r"x has the shape \(6, 28, 32, 3\); expected \(n, 32, 32, 3\)"),
        ({"x": IMAGES[:0], "y": LABELS[:0]}, "x has the shape"),
        ({"x": np.float32(1), "y": LABELS}, r"x has the shape \(\)"),
        ({"x": IMAGES.astype("U1"), "y": LABELS}, "x has the type <U1; expected numbers"),
        ({"x": np.full(IMAGES.shape, np.nan), "y": LABELS}, "not finite"),
        ({"x": np.append(IMAGES[:5], np.full((1, *IMAGES.shape[1:]), -np.inf), 0), "y": LABELS}, "not finite"),
        ({"x": IMAGES - 1e300, "y": LABELS}, r"x holds values from -1e\+300 to -1e\+300; the network computes in float32"),
        ({"x": IMAGES, "y": LABELS[:5]}, r"y has the shape \(5,\); expected \(6,\)"),
        ({"x": IMAGES, "y": LABELS.astype("float32")}, "y has the type float32; expected integers"),
        ({"x": IMAGES, "y": LABELS + 5}, "y holds classes from 5 to 10; expected 0 to 9"),
        ({"x": IMAGES, "y": LABELS - 1}, "y holds classes from -1 to 4"),
        ({"x": np.array([None] * 6), "y": LABELS}, "not an .npz file that can be read"),
    ],
)
def test_invalid_arrays_are_rejected(arrays, words, tmp_path):
    with pytest.raises(bench_data.Unusable, match=words):
        bench_data.load(None, stored(tmp_path, **arrays))


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04broken", b"\x93NUMPY\x01\x00"])
def test_invalid_npz_file_is_rejected(content, tmp_path):
    (tmp_path / "data.npz").write_bytes(content)
    with pytest.raises(bench_data.Unusable, match=r"not an \.npz file that can be read"):
        bench_data.load(None, str(tmp_path / "data.npz"))


def test_single_array_is_rejected(tmp_path):
    np.save(tmp_path / "one.npy", IMAGES)
    (tmp_path / "data.npz").write_bytes((tmp_path / "one.npy").read_bytes())
    with pytest.raises(bench_data.Unusable, match="a single array"):
        bench_data.load(None, str(tmp_path / "data.npz"))


ORDER = """
import numpy as np
from gpucheck.core.training import bench_data
data = bench_data.pipeline(tf, (np.zeros((12, 32, 32, 3), "uint8"), np.arange(12)), 4)
orders = [[labels.numpy().tolist() for _, labels in data.take(3)] for _ in range(3)]
found = orders
"""


@pytest.mark.slow
@pytest.mark.tensorflow
@MARKS[1]
def test_every_repeat_reads_the_same_samples_in_the_same_order():
    first, *others = found_by(ORDER)
    assert others == [first, first]
    read = [label for batch in first for label in batch]
    assert sorted(read) == list(range(12)) != read


def test_same_tenth_is_held_out_on_every_run():
    images = np.arange(50)[:, None, None, None] * np.ones((50, 32, 32, 3), "uint8")
    (train, labels), (unseen, others) = bench_data.split((images, np.arange(50)))
    assert (len(train), len(labels), len(unseen), len(others)) == (45, 45, 5, 5)
    assert sorted([*labels, *others]) == list(range(50))
    assert list(others) != sorted(others), "a file that is sorted by class would hold out one class"
    assert [int(image[0, 0, 0]) for image in unseen] == list(others)
    assert list(bench_data.split((images, np.arange(50)))[1][1]) == list(others)


def test_nothing_is_held_out_of_few_or_generated_samples():
    assert bench_data.split(None) == (None, None)
    assert bench_data.split((IMAGES, LABELS))[1] is None
