"""The data that the benchmark trains on: generated, Keras' CIFAR-10 or a user's file, checked before anything is measured."""

from __future__ import annotations

from typing import Any

from gpucheck.core.training.smoke import network

SHAPE = (32, 32, 3)  # input shape of the smoke model
HELD_OUT_SHARE, HELD_OUT_MAX = 0.1, 2000  # held-out samples: share of the data, and maximum


class Unusable(Exception):
    """Data that can't be trained on; the message is for the user."""


def load(keras: Any, source: str) -> tuple[Any, Any] | None:
    """Return images and labels of "cifar10" or an .npz file; None for "synthetic", which is generated batch by batch.

    Raises:
        Unusable: the file does not contain training data in the expected format.
    """
    if source == "synthetic":
        return None
    import numpy as np

    if source == "cifar10":
        (images, labels), _ = keras.datasets.cifar10.load_data()  # downloads once, then reads the cached file
        return images, labels.reshape(-1).astype("int32")
    try:
        with open(source, "rb") as raw:
            file = np.load(raw, allow_pickle=False)
            if not hasattr(file, "files"):
                raise Unusable(f"{source}: a single array; expected an .npz file with the arrays x and y")
            missing = [name for name in ("x", "y") if name not in file.files]
            if missing:
                raise Unusable(f"{source}: no array {' and no array '.join(missing)}; it holds {', '.join(file.files) or 'none'}")
            images, labels = file["x"], file["y"]
    except Unusable:
        raise
    except Exception as error:  # OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, MemoryError
        raise Unusable(f"{source}: not an .npz file that can be read: {type(error).__name__}: {error}") from None
    return checked(np, source, images, labels)


def checked(np: Any, source: str, images: Any, labels: Any) -> tuple[Any, Any]:
    """Return the arrays in the shape that the network expects: x (n, 32, 32, 3), y (n,) with classes 0 to 9.

    Raises:
        Unusable: the shape, type or range differs.
    """
    if images.shape[1:] != SHAPE or not len(images):
        raise Unusable(f"{source}: x has the shape {images.shape}; expected (n, 32, 32, 3)")
    if images.dtype.kind not in "uif":
        raise Unusable(f"{source}: x has the type {images.dtype}; expected numbers")
    if images.dtype.kind == "f":
        low, high = float(images.min()), float(images.max())  # NaN if any value is NaN
        if not -np.inf < low <= high < np.inf:
            raise Unusable(f"{source}: x holds values that are not finite")
        if max(-low, high) > float(np.finfo("float32").max):
            raise Unusable(
                f"{source}: x holds values from {low:.3g} to {high:.3g}; the network computes in float32, which has none"
            )
    if labels.shape not in ((len(images),), (len(images), 1)):
        raise Unusable(f"{source}: y has the shape {labels.shape}; expected ({len(images)},), one class per sample of x")
    if labels.dtype.kind not in "ui":
        raise Unusable(f"{source}: y has the type {labels.dtype}; expected integers, the classes")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= network.CLASSES:
        raise Unusable(f"{source}: y holds classes from {low} to {high}; expected 0 to {network.CLASSES - 1}")
    if images.dtype.kind == "f":  # TensorFlow has no long double
        images = images.astype("float32", copy=False)
    return images.astype(images.dtype.newbyteorder("="), copy=False), labels.reshape(-1).astype("int32")


def split(arrays: tuple[Any, Any] | None) -> tuple[tuple[Any, Any] | None, tuple[Any, Any] | None]:
    """Return the samples to train on, and the held-out samples for the accuracy; the split is the same on every run."""
    count = 0 if arrays is None else min(int(len(arrays[0]) * HELD_OUT_SHARE), HELD_OUT_MAX)
    if arrays is None or count == 0:
        return arrays, None
    import numpy as np

    order = np.random.default_rng(network.SEED).permutation(len(arrays[0]))  # files are often sorted by class
    return tuple(array[order[count:]] for array in arrays), tuple(array[order[:count]] for array in arrays)


def held_out(tf: Any, arrays: tuple[Any, Any], global_batch: int) -> tuple[Any, int]:
    """Return one pass over the held-out samples in whole batches, and their number."""
    batch = min(global_batch, len(arrays[0]))
    data = _prepared(tf, arrays, tf.data.Dataset.from_tensor_slices(arrays)).batch(batch, drop_remainder=True)
    return data, len(arrays[0]) // batch * batch


def pipeline(tf: Any, arrays: tuple[Any, Any] | None, global_batch: int) -> Any:
    """Return endless batches from a pipeline that TensorFlow's guide recommends: map, batch, prefetch."""
    if arrays is None:
        return network.dataset(tf, global_batch)
    if len(arrays[0]) < global_batch:
        raise Unusable(f"the data has {len(arrays[0])} samples, less than one global batch of {global_batch}")
    # The same order on every pass, so that every repeat trains on the same samples.
    data = tf.data.Dataset.from_tensor_slices(arrays)
    data = data.shuffle(min(len(arrays[0]), 10_000), seed=network.SEED, reshuffle_each_iteration=False)
    data = _prepared(tf, arrays, data).batch(global_batch, drop_remainder=True)
    return data.repeat().prefetch(tf.data.AUTOTUNE)


def _prepared(tf: Any, arrays: tuple[Any, Any], data: Any) -> Any:
    scale = 1 / 255 if arrays[0].dtype.kind in "ui" else 1.0

    def prepare(image: Any, label: Any) -> tuple[Any, Any]:
        return tf.cast(image, tf.float32) * scale, label

    return data.map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
