"""A Keras 3 model is trained with fit under MultiWorkerMirroredStrategy, which Keras 3 does not support.

Symptom:
    - RuntimeError: Method requires being in cross-replica context, use get_replica_context().merge_call()
    ValueError: Attempt to convert a value (PerReplica:{ ... }) with an unsupported type to a Tensor.
    - ValueError: in user code: ... keras/src/backend/tensorflow/trainer.py
Cause:
    fit in Keras 3 does not support TensorFlow's strategy with several workers. A custom loop with strategy.run does, and so
    does Keras 2.
Fix:
    1. Write the loop: strategy.experimental_distribute_dataset and strategy.run.
    2. Or keep Keras 2: install tf_keras, then
       $ export TF_USE_LEGACY_KERAS=1
    3. Or use the JAX backend with keras.distribution.DataParallel.
Verify:
    Two workers on one machine complete the first step.
Unless:
    Only one worker is ever started: use MirroredStrategy instead. tf.keras is Keras 3 since TensorFlow 2.16: scripts that use
    it are reported only if they use TF_CONFIG or a cluster resolver, do not check a version, and do not mention an older
    TensorFlow or Keras 2, not even in comments and shell commands.
Example:
    bad:
        import keras
        import tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile(loss="mse")
        model.fit(dataset)
    good:
        import keras
        import tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
        for batch in strategy.experimental_distribute_dataset(dataset):
            strategy.run(train_step, args=(batch,))
References:
    https://github.com/keras-team/keras/issues/20585
    https://www.tensorflow.org/tutorials/distribute/multi_worker_with_ctl
"""

import ast
import re

from gpucheck.commands.lint.lookup import all_calls, constant
from gpucheck.commands.lint.models import WORKERS, strategies_around
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call, Value

FIX = "Write the loop with strategy.run, or run it on Keras 2: install tf_keras and set TF_USE_LEGACY_KERAS=1."
RESOLVER = re.compile(r"tensorflow\.distribute\.cluster_resolver\.(Slurm|Kubernetes|TFConfig|GCE)ClusterResolver")


@rule(explains=("multi-worker-fit-unsupported",), words=("MultiWorkerMirroredStrategy",))
def check(script: Script) -> Findings:
    """Report fit if the model is definitely in the scope of this strategy and a Keras 3 model."""
    sure = script.standalone_keras
    if not sure and not script.uses_keras_3:
        return
    which = "Keras 3" if sure else "Keras 3 (tf.keras since TensorFlow 2.16)"
    for call, models in script.trainings:
        around = strategies_around(models)
        if all_calls(around, WORKERS) and (sure or _clustered(script) or any(map(_resolved, around))):
            yield at(call.node, f"fit of {which} does not train under MultiWorkerMirroredStrategy.", FIX)


def _resolved(strategy: Value) -> bool:
    """Whether the strategy gets its workers from a resolver that queries the cluster."""
    resolver = strategy.argument("cluster_resolver", 0) if isinstance(strategy, Call) else None
    return isinstance(resolver, Call) and bool(RESOLVER.fullmatch(resolver.name))


def _clustered(script: Script) -> bool:
    """Whether the script reads or sets TF_CONFIG for several workers: with one worker, Keras 3's fit works."""
    if any(constant(call.argument("", 0)) == "TF_CONFIG" for call in script.calls_named("os.environ.pop")):
        return False
    nodes = list(ast.walk(script.tree))
    pairs = [pair for node in nodes if isinstance(node, ast.Dict) for pair in zip(node.keys, node.values, strict=True)]
    workers = [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "worker"]
    if any(isinstance(value, ast.List) and len(value.elts) < 2 for value in workers):
        return False
    return any(isinstance(node, ast.Constant) and node.value == "TF_CONFIG" for node in nodes)
