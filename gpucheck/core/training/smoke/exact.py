"""Computations whose exact result is known, so that rounding can't explain a difference."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gpucheck.core.training.smoke import network

PRECISIONS = ("float32", "bfloat16", "float16")
ROWS = 32  # of a product, compared with the exact ones
STEP = 1 / 128
# Relative to the largest value. The factors are multiples of 1/128 between -1 and 1, which every precision from int8 up holds
# exactly, and a float32 holds every sum of their products. A 16-bit result is rounded, as are partial sums if the product is
# split or, with TF_FP16_MATMUL_USE_FP32_COMPUTE=0, all sums. A convolution by Winograd's method or FFT also rounds in between.
TOLERANCE = {"float16": 2**-5, "bfloat16": 2**-5}
CONVOLUTION_TOLERANCE = 2**-7


class Operation(NamedTuple):
    """A computation whose exact result is known."""

    name: str
    compute: Callable[[], Any]
    exact: Any  # of the first rows; an array
    tolerance: float  # relative to the largest exact value


def exact_operations(tf: Any, size: int) -> Iterator[Operation]:
    """Yield products in every precision, a convolution and a sum, with inputs on the current device."""
    import numpy as np

    left, right, product = _matrices(size)
    for precision in PRECISIONS:
        factors = [tf.cast(tf.constant(values * STEP), precision) for values in (left, right)]
        exact, tolerance = product * STEP**2, TOLERANCE.get(precision, 0.0)
        yield Operation(f"{precision} product", functools.partial(tf.matmul, *factors), exact, tolerance)
    whole = [tf.cast(tf.constant(values), tf.int8) for values in (left, right)]
    yield Operation("int8 product", lambda: tf.matmul(*whole, output_type=tf.int32), product, 0.0)
    values = tf.constant(left * STEP)
    columns = left.astype("float64").sum(axis=0) * STEP
    yield Operation("float32 sum", lambda: tf.reduce_sum(values, 0, keepdims=True), columns[None], 0.0)
    float8 = getattr(getattr(tf.dtypes, "experimental", None), "float8_e4m3fn", None)
    if float8 is not None:  # TensorFlow converts it; products exist only in XLA, which may abort the process
        small = np.fmod(left, 16) * STEP  # four bits, which it holds exactly
        given = tf.constant(small)
        yield Operation("float8 conversion", lambda: tf.cast(tf.cast(given, float8), tf.float32), small[:ROWS], 0.0)
    image, kernel = (left * STEP)[None, :, :64, None], (right * STEP)[:3, :3, None, None]
    inputs = [tf.constant(image), tf.constant(kernel)]
    windows = np.lib.stride_tricks.sliding_window_view(image[0, : ROWS + 2, :, 0].astype("float64"), (3, 3))
    expected = np.einsum("ijkl,kl->ij", windows, kernel[:, :, 0, 0].astype("float64"))
    yield Operation("float32 convolution", lambda: tf.nn.conv2d(*inputs, 1, "VALID")[0, :, :, 0], expected, CONVOLUTION_TOLERANCE)


@functools.lru_cache(maxsize=1)
def _matrices(size: int) -> tuple[Any, Any, Any]:
    """Return two matrices of integers that fit into int8, as float32, and the first rows of their product."""
    import numpy as np

    random = np.random.default_rng(network.SEED)
    left, right = (random.integers(-127, 128, (size, size), dtype="int8").astype("float32") for _ in range(2))
    return left, right, left[:ROWS].astype("float64") @ right.astype("float64")
