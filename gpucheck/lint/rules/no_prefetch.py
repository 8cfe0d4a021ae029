"""A dataset that reads files and prepares what it reads is never prefetched.

Symptom:
    GPU utilisation swings between 0 and 100 percent while the CPU is busy.
    The TensorFlow Profiler says: Your program is HIGHLY input-bound.
Cause:
    Without prefetch a training step and the preparation of the next batch take turns: the GPU waits while the CPU reads and
    decodes. Files, generators and Python make that wait long.
Fix:
    1. End the pipeline with .prefetch(tf.data.AUTOTUNE).
    2. Let map and interleave work in parallel: num_parallel_calls=tf.data.AUTOTUNE
    3. If the prepared data fits into memory, add .cache() before shuffle.
Verify:
    An epoch takes less time; gpucheck bench shows what the pipeline and what the device can do.
Unless:
    The data is small. A generator that is only batched is left alone, as TensorFlow's own tutorials leave it. Recent TensorFlow
    adds a prefetch behind a batch by itself, unless the optimisation inject_prefetch is switched off; saying it costs nothing
    and does not depend on the version.
Example:
    bad:
        import tensorflow as tf
        dataset = tf.data.TFRecordDataset(files).map(decode).batch(64)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.fit(dataset, epochs=3)
    good:
        import tensorflow as tf
        dataset = tf.data.TFRecordDataset(files).map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        dataset = dataset.batch(64).prefetch(tf.data.AUTOTUNE)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.fit(dataset, epochs=3)
References:
    https://www.tensorflow.org/guide/data_performance#prefetching
    https://www.tensorflow.org/api_docs/python/tf/data/experimental/OptimizationOptions
"""

import re
from collections.abc import Iterator

from gpucheck.lint.datasets import Chain, chains
from gpucheck.lint.models import trainings
from gpucheck.lint.script import Finding, Script, at
from gpucheck.model import Severity

SEVERITY = Severity.WARNING
WORDS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "list_files", "from_generator")
SLOW = re.compile(
    r"tensorflow\.data\.(TFRecordDataset|TextLineDataset|FixedLengthRecordDataset|Dataset\.(list_files|from_generator))"
)


def check(script: Script) -> Iterator[Finding]:
    """Trained on by fit without a strategy: those prefetch what they distribute."""
    if any(name.startswith("tensorflow.distribute") for name in script.names):
        return
    for call, _ in trainings(script):
        found = chains(call.argument("x", 0))
        if found and all(map(_waits, found)):
            last = found[0].steps[-1]
            yield at(
                last.node,
                f"The dataset that fit reads ({script.where(call.node)}) comes from files or a generator, never prefetched.",
                "End it with .prefetch(tf.data.AUTOTUNE).",
            )


def _waits(chain: Chain) -> bool:
    if not SLOW.fullmatch(chain.source.name) or chain.batch is None or chain.has("prefetch", "cache", "with_options"):
        return False
    return chain.has("map", "interleave", "flat_map")
