"""Replicas are built manually: a loop over GPUs computes gradients, or copies a model, under tf.device.

Symptom:
    - Several GPUs are not faster than one: they run one after the other.
    - Weights differ between the GPUs.
Cause:
    Python runs the loop's steps in sequence, gradients are gathered on one device, and batch normalization, optimizer
    state and metrics are not synchronized between the GPUs.
Fix:
    1. Use a strategy: strategy = tf.distribute.MirroredStrategy(), the model under with strategy.scope():, and the loop's
       body as a function for strategy.run.
Verify:
    nvidia-smi shows all GPUs busy at the same time.
Unless:
    The copies are independent models, or different layers. Loops that build and train a separate model or separate
    variables on each GPU are not reported, unless they gather the gradients.
Example:
    bad:
        import tensorflow as tf
        towers = []
        for i in range(4):
            with tf.device(f"/GPU:{i}"):
                with tf.GradientTape() as tape:
                    loss = compute_loss(model, batches[i])
                towers.append(tape.gradient(loss, model.trainable_variables))
    good:
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = make_model()
        def step(batch):
            with tf.GradientTape() as tape:
                loss = compute_loss(model, batch)
            return tape.gradient(loss, model.trainable_variables)
        for batch in strategy.experimental_distribute_dataset(dataset):
            strategy.run(step, args=(batch,))
References:
    https://www.tensorflow.org/guide/distributed_training#use_tfdistributestrategy_with_custom_training_loops
    https://www.tensorflow.org/guide/gpu#using_multiple_gpus
"""

import re

from gpucheck.commands.lint.devices import LISTS
from gpucheck.commands.lint.lookup import TAPE, constant, holds, is_call, iterated, options, parts
from gpucheck.commands.lint.models import is_model
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Attribute, Call, Class, Constant, Each, Element, Items, Operation, Pairs, Value

FIX = "Use tf.distribute.MirroredStrategy, with the loop's body as a function for strategy.run."
GATHERS = ("append", "extend", "insert", "add", "put")
GRADIENTS = {TAPE, "tensorflow.gradients"}  # in a graph of TensorFlow 1, the GPUs run at the same time
GPU = re.compile(r"gpu|cuda|device:", re.IGNORECASE)
OTHER = re.compile(r"cpu|job|task|tpu", re.IGNORECASE)


@rule(severity="warning", words=("device(",))
def check(script: Script) -> Findings:
    """Report a device that depends on a loop variable and is used for gradients or for models whose weights are copied."""
    copied = bool(script.methods("set_weights"))
    devices = [(context, context.argument("device_name", 0)) for context in script.calls_named("tensorflow.device")]
    for context, device in [pair for pair in devices if _each_gpu(pair[1])]:
        calls = [call for call in script.calls if context in call.place.contexts]
        separate = isinstance(device, Each) and _differs_per_iteration(calls)
        if separate or not _replicates(calls, copied=copied) or _independent(script, context, calls):
            continue
        message = "This loop builds replicas manually: the GPUs run one after the other, and their weights are not synchronized."
        yield at(context.node, message, FIX)


def _replicates(calls: list[Call], *, copied: bool) -> bool:
    """Whether the calls on each GPU belong to one training run, not to models that are built and trained independently."""
    gradients = any(call.name in GRADIENTS for call in calls)
    if any(map(is_model, calls)):
        return copied and not gradients and not any(call.method in ("fit", "train_on_batch") for call in calls)
    return gradients


def _independent(script: Script, context: Call, calls: list[Call]) -> bool:
    """Whether each GPU definitely has separate variables, and nothing gathers their gradients."""
    if any(call.name in GRADIENTS - {TAPE} for call in calls):
        return False
    made = [call for call in calls if call.method == "gradient"]
    if not made or not all(_created_under_device(call.argument("sources", 1), context) for call in made):
        return False
    gathered = [value for call in script.methods(*GATHERS) for value in call.args] + [store.value for store in script.stores]
    return not any(holds(gathered, call) for call in made)


def _differs_per_iteration(calls: list[Call]) -> bool:
    """Whether the variables may differ in each iteration, because they come from the loop's element."""
    sources = [call.argument("sources", 1) for call in calls if call.method == "gradient"]
    return any(len(list(options(source))) > 1 for source in sources) or any(True for _ in iterated(sources))


def _created_under_device(sources: Value | None, context: Call) -> bool:
    """Whether all sources are variables, or parts of an object defined in this file, that are created under the device."""
    joins = (Attribute, Constant, Element, Items, Operation, Pairs)
    roots = [part for part in parts(sources) if not isinstance(part, joins)]
    return bool(roots) and all(
        isinstance(root, Call)
        and (root.name == "tensorflow.Variable" or isinstance(root.function, Class))
        and context in root.place.contexts
        for root in roots
    )


def _each_gpu(device: Value | None) -> bool:
    every = list(parts(device, lambda call: call.method == "format" or call.name in ("builtins.str", "builtins.range")))
    words = " ".join(str(part.value) for part in every if isinstance(part, Constant))
    names = [str(constant(option)) for option in device.options] if isinstance(device, Each) else []  # in a list literal
    several = len(set(names)) > 1 and all(map(GPU.search, names))
    looped = several or any(isinstance(part, Element) and part.index is None for part in every)
    gpus = bool(GPU.search(words)) or any(is_call(part, *LISTS) for part in every)
    return looped and gpus and not OTHER.search(words)
