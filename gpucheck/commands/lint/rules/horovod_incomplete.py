"""A program that uses Horovod omits one of the required steps.

Symptom:
    - Every process trains its own model: the losses of the ranks differ, and more processes are not faster.
    - ValueError: Horovod has not been initialized; use hvd.init().
    - Every process takes memory on every GPU, and the first GPU runs out of it.
Cause:
    Horovod needs four steps: hvd.init(), one GPU for each process, a DistributedOptimizer that averages the gradients, and a
    broadcast of the first weights from rank 0.
Fix:
    1. optimizer = hvd.DistributedOptimizer(optimizer), before model.compile
    2. callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)] in model.fit
    3. tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU"), before anything runs on a GPU
    4. Or use tf.distribute.MirroredStrategy for the GPUs of one machine: it needs none of these steps.
Verify:
    The losses of all ranks are the same after the first step.
Unless:
    Another module performs the step. Programs that import modules from their own project are not reported.
Example:
    bad:
        import horovod.tensorflow.keras as hvd
        import keras
        hvd.init()
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(optimizer="adam", loss="mse")
        model.fit(x, y)
    good:
        import horovod.tensorflow.keras as hvd
        import keras
        import tensorflow as tf
        hvd.init()
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(optimizer=hvd.DistributedOptimizer(keras.optimizers.Adam()), loss="mse")
        model.fit(x, y, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
References:
    https://horovod.readthedocs.io/en/stable/keras.html
    https://github.com/horovod/horovod/releases
"""

import re

from gpucheck.commands.lint.lookup import in_uncalled_function
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call
from gpucheck.core.model.wording import listing

KNOWN = {"tensorflow", "keras", "horovod", "numpy", "os", "sys", "time", "json", "math", "re", "pathlib", "argparse", "absl"}
# Each step: the names, one of which is required, and how to add the step.
STEPS = {
    "a DistributedOptimizer": (
        "DistributedOptimizer|load_model|DistributedGradientTape",
        "pass hvd.DistributedOptimizer(optimizer) to compile",
    ),
    "a broadcast of the first weights": (
        "BroadcastGlobalVariablesCallback|broadcast_variables|broadcast_global_variables",
        "pass callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)] to fit",
    ),
    "one GPU for each process": (
        "set_visible_devices|visible_device_list|CUDA_VISIBLE_DEVICES",
        'call tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU") after hvd.init()',
    ),
}


@rule(severity="warning", words=("horovod",))
def check(script: Script) -> Findings:
    """Report a program without hvd.init(), or the missing steps of a program that trains a model."""
    calls = [call for call in script.calls if call.name.startswith(("horovod.tensorflow.", "horovod.keras."))]
    starts = [call for call in calls if call.name.endswith("keras.init")]
    if script.modules() - KNOWN:
        return
    if calls and _is_program(script, calls) and not re.search(r"\binit\b", script.written):
        yield at(calls[0].node, "This program uses Horovod without hvd.init().", "Call hvd.init() first, after the imports.")
    if not starts or not script.trainings:
        return
    missing = [(step, how) for step, (names, how) in STEPS.items() if not re.search(names, script.written)]
    if missing:
        steps, instructions = (listing(list(column), most=len(STEPS)) for column in zip(*missing, strict=True))
        fix = f"{instructions[0].upper()}{instructions[1:]}."
        yield at(starts[0].node, f"This program uses Horovod without {steps}.", fix)


def _is_program(script: Script, calls: list[Call]) -> bool:
    """Whether the file calls Horovod when it runs; a helper module only defines what other files call."""
    return bool(script.trainings) or "app.run(" in script.written or not all(in_uncalled_function(call.place) for call in calls)
