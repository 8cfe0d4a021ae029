"""A dataset that reads and preprocesses files is never prefetched.

Symptom:
    - GPU utilization swings between 0 and 100 percent while the CPU is busy.
    The TensorFlow Profiler says: Your program is HIGHLY input-bound.
Cause:
    Without prefetch a training step and the preparation of the next batch alternate: the GPU waits while the CPU reads and
    decodes. With files, generators and Python code the wait is long.
Fix:
    1. End the pipeline with .prefetch(tf.data.AUTOTUNE).
    2. Run map and interleave in parallel: num_parallel_calls=tf.data.AUTOTUNE
    3. If the prepared data fits into memory, add .cache() before shuffle.
Verify:
    An epoch takes less time; gpucheck bench measures what the pipeline and the device can reach.
Unless:
    The data is small. A generator that is only batched, as in TensorFlow's tutorials, is not reported. Lists of file names and
    custom loops are not reported if a step has num_parallel_calls, because this step prefetches. Recent TensorFlow adds a
    prefetch after batch, unless the optimization inject_prefetch is disabled; an explicit prefetch costs nothing and does
    not depend on the version.
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

import ast
import re

from gpucheck.commands.lint.datasets import Chain, chains, reads_files
from gpucheck.commands.lint.edits import alias, append
from gpucheck.commands.lint.lookup import TAPE, is_call, iterated, under
from gpucheck.commands.lint.models import built
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call, Function, Name, Value, used_by

WORDS = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "list_files", "from_generator", "from_tensor_slices")
SLOW = re.compile(
    r"tensorflow\.data\.(TFRecordDataset|TextLineDataset|FixedLengthRecordDataset|Dataset\.(list_files|from_generator))"
)
NAMES = "tensorflow.data.Dataset.from_tensor_slices"  # a source of file names, if a mapped function reads the files

STEP = "apply_gradients"
LOOP = "this loop reads"


@rule(severity="warning", explains=("input-pipeline-bound",), words=WORDS)
def check(script: Script) -> Findings:
    """Report datasets used by fit or a training loop, without a strategy: strategies prefetch distributed datasets."""
    if any(name.startswith("tensorflow.distribute") for name in script.names):
        return
    read = [(call, call.argument("x", 0), "fit reads") for call, _ in script.trainings]
    for call in script.calls:
        looped = list(iterated(call.args))
        read += [(call, batches, LOOP) for batches in (looped if looped and _trains(script, call) else ())]
    name, reported = alias(script, "tensorflow"), set[int]()
    for call, dataset, who in read:
        pipelines = chains(dataset)
        if pipelines and all(_waits(chain, in_loop=who == LOOP) for chain in pipelines):
            last = pipelines[0].steps[-1].node
            if id(last) not in reported:  # the loop's call comes first, then the calls inside the step
                edit = append(last, f".prefetch({name}.data.AUTOTUNE)") if name else None
                where = script.where(call.node)
                message = f"The dataset that {who} ({where}) comes from files or a generator and is never prefetched."
                reported.add(id(last))
                yield at(last, message, "End it with .prefetch(tf.data.AUTOTUNE).", edit)


def _waits(chain: Chain, *, in_loop: bool) -> bool:
    """Whether training waits for a step that reads files or runs a generator; a parallel step in a loop already prefetches."""
    if chain.batch is None or chain.has("prefetch", "cache", "with_options"):
        return False
    if SLOW.fullmatch(chain.source.name):
        return chain.has("map", "interleave", "flat_map") and not (in_loop and _parallel(chain))
    # File names are mapped sequentially by a function of this file that reads the files.
    return chain.source.name == NAMES and not _parallel(chain) and any(map(reads_files, chain.steps))


def _parallel(chain: Chain) -> bool:
    """Whether a step with parallel calls prefetches."""
    return any("num_parallel_calls" in step.keywords or step.starred or len(step.args) > 1 for step in chain.steps)


def _trains(script: Script, call: Call) -> bool:
    """Whether a call in a loop definitely updates weights from its arguments: a step in this file, or under a tape."""
    if call.method == "train_on_batch":
        return bool(built(call.receiver))
    step: Value | None = call.function
    if is_call(step, "tensorflow.function"):
        step = step.argument("func", 0)
    if isinstance(step, Function):
        taped = any(isinstance(value, Name) and value.path == TAPE for value in used_by(step))
        return taped and any(isinstance(node, ast.Attribute) and node.attr == STEP for node in ast.walk(step.node))
    return under(call.place, TAPE) and any(other.place.path == call.place.path for other in script.methods(STEP))
