"""The network and its data: CIFAR-shaped, generated, learnable within a few steps."""

from __future__ import annotations

from typing import Any

CLASSES = 10
STEPS = 12
BATCHES = 4
PER_REPLICA_BATCH = {"CPU": 8, "GPU": 64, "TPU": 64}
SEED = 20_2111


def batch_size(device: str) -> int:
    """Return the samples per replica on a kind of device; ``device`` is a name such as "GPU:0"."""
    return PER_REPLICA_BATCH.get(device.split(":")[0], 16)


def dataset(tf: Any, global_batch: int, drop_remainder: bool = True) -> Any:
    """Endless batches: each class is a coarse color pattern with noise, so the loss must fall within a few steps.

    ``drop_remainder`` gives every step the same static shape. Without it nothing is dropped either, but the batch size is not
    static, so the traced step fits every batch size.
    """
    images, labels = arrays(BATCHES * global_batch)
    data = tf.data.Dataset.from_tensor_slices((images, labels))
    return untuned(tf, data.batch(global_batch, drop_remainder=drop_remainder).repeat().prefetch(BATCHES))


def untuned(tf: Any, data: Any) -> Any:
    """Disable tf.data's autotuning for a dataset: nothing needs it, and its thread delays the end of an iterator by up to 2 s."""
    options = tf.data.Options()
    options.autotune.enabled = False
    return data.with_options(options)


def steps(global_batch: int) -> tuple[Any, Any]:
    """Return the same data as arrays of all steps' samples, (STEPS * global_batch, ...), for a Keras without ``tf.data``."""
    import numpy as np

    images, labels = arrays(BATCHES * global_batch)
    passes = STEPS // BATCHES
    return np.concatenate([images] * passes), np.concatenate([labels] * passes)


def arrays(count: int) -> tuple[Any, Any]:
    """Return images (count, 32, 32, 3) as float32 around 0, and their classes (count,) as int32; the same on every call."""
    import numpy as np

    random = np.random.default_rng(SEED)
    patterns = random.normal(size=(CLASSES, 4, 4, 3)).repeat(8, axis=1).repeat(8, axis=2)
    labels: Any = np.arange(count) % CLASSES
    random.shuffle(labels)
    images = patterns[labels] + 0.5 * random.normal(size=(len(labels), 32, 32, 3))
    return images.astype("float32"), labels.astype("int32")


def model(keras: Any, compiled: bool, synchronized: bool = False, dropout: float = 0.3, steps_per_execution: int = 1) -> Any:
    """Return the network, compiled for training; its last activation is float32 under every precision.

    Args:
        keras: the module to build with.
        compiled: by XLA (``jit_compile``).
        synchronized: whether batch normalization computes its statistics over all replicas, instead of one.
        dropout: share of the features that a step drops; with 0, a step is the same on one device and on several.
        steps_per_execution: steps of ``fit`` that run without returning to Python.
    """
    layers = keras.layers
    options = {"synchronized": True} if synchronized else {}
    last = {"data_format": "channels_last"}  # whatever keras.json has
    network = keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            layers.Conv2D(64, 3, padding="same", activation="relu", **last),
            layers.BatchNormalization(**options),
            layers.MaxPooling2D(**last),
            layers.Conv2D(128, 3, padding="same", activation="relu", **last),
            layers.BatchNormalization(**options),
            layers.MaxPooling2D(**last),
            layers.Conv2D(256, 3, padding="same", activation="relu", **last),
            layers.GlobalAveragePooling2D(**last),
            layers.Dropout(dropout),
            layers.Dense(CLASSES),
            layers.Activation("softmax", dtype="float32"),
        ]
    )
    network.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=compiled,
        **({"steps_per_execution": steps_per_execution} if steps_per_execution > 1 else {}),
    )
    return network
