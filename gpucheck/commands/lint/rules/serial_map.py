"""A dataset reads or decodes files one after the other, because map has no num_parallel_calls.

Symptom:
    - The GPU waits for data, although the dataset ends in prefetch.
    - One CPU core is busy, and the others are idle.
Cause:
    Dataset.map calls its function for one element at a time, unless num_parallel_calls is given. prefetch prepares batches
    while the GPU computes, but the function still runs on one core.
Fix:
    1. dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)
Verify:
    top shows several busy cores during training, and an epoch takes less time.
Unless:
    The dataset is cached after the map. Such datasets are not reported, nor are functions that don't read or decode files.
Example:
    bad:
        import tensorflow as tf
        def load(name):
            return tf.io.decode_jpeg(tf.io.read_file(name))
        dataset = tf.data.Dataset.list_files("*.jpg").map(load).batch(32).prefetch(tf.data.AUTOTUNE)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.fit(dataset, epochs=3)
    good:
        import tensorflow as tf
        def load(name):
            return tf.io.decode_jpeg(tf.io.read_file(name))
        dataset = tf.data.Dataset.list_files("*.jpg").map(load, num_parallel_calls=tf.data.AUTOTUNE)
        dataset = dataset.batch(32).prefetch(tf.data.AUTOTUNE)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.fit(dataset, epochs=3)
References:
    https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    https://www.tensorflow.org/api_docs/python/tf/data/Dataset#map
"""

from gpucheck.commands.lint.datasets import chains, reads_files
from gpucheck.commands.lint.edits import alias, insert_argument
from gpucheck.commands.lint.script import Findings, Script, at, rule


@rule(severity="warning", explains=("input-pipeline-bound",), words=("map(",))
def check(script: Script) -> Findings:
    """Report maps of a dataset that is passed to fit."""

    for call, _ in script.trainings:
        for chain in chains(call.argument("x", 0)):
            for step in () if chain.has("cache", "with_options") else chain.steps:
                serial = "num_parallel_calls" not in step.keywords and len(step.args) == 1 and not step.starred
                if serial and reads_files(step):
                    message = "This map reads or decodes files one after the other."
                    name = alias(script, "tensorflow")
                    edit = insert_argument(script, step.node, f"num_parallel_calls={name}.data.AUTOTUNE") if name else None
                    yield at(step.node, message, "Add num_parallel_calls=tf.data.AUTOTUNE.", edit)
