"""A TPUStrategy is created before the TPU system is initialized.

Symptom:
    - NotFoundError: TPUs not found in the cluster
    - InvalidArgumentError: Cannot assign a device for operation ... device:TPU
    - The strategy finds no TPU, although the machine has one.
Cause:
    TensorFlow does not connect to a TPU automatically: the program must connect to the TPU's cluster, if it is on another host,
    and initialize the TPU system before it creates the strategy.
Fix:
    1. Insert, before the strategy: tf.config.experimental_connect_to_cluster(resolver), then
       tf.tpu.experimental.initialize_tpu_system(resolver).
    2. Or create the resolver with TPUClusterResolver.connect(), which does both.
Verify:
    print(strategy.num_replicas_in_sync) prints the number of TPU cores.
Unless:
    Another module initializes the TPU: programs that pass the resolver to another function are not reported.
Example:
    bad:
        import tensorflow as tf
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
        strategy = tf.distribute.TPUStrategy(resolver)
    good:
        import tensorflow as tf
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        strategy = tf.distribute.TPUStrategy(resolver)
References:
    https://www.tensorflow.org/guide/tpu#tpu_initialization
    https://www.tensorflow.org/api_docs/python/tf/distribute/TPUStrategy
"""

from gpucheck.commands.lint.lookup import holds, is_call, options
from gpucheck.commands.lint.models import TPU
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Value

RESOLVER = "tensorflow.distribute.cluster_resolver.TPUClusterResolver"
FIX = "Call tf.config.experimental_connect_to_cluster and tf.tpu.experimental.initialize_tpu_system first."


@rule(words=("TPUStrategy",))
def check(script: Script) -> Findings:
    """Report strategies of a resolver that this file creates, if nothing in it initializes a TPU or receives the resolver."""
    if any("initialize_tpu_system" in name for name in script.names) or script.methods("initialize_tpu_system"):
        return
    for strategy in script.calls_named(TPU):
        resolvers = list(options(strategy.argument("tpu_cluster_resolver", 0)))
        if resolvers and all(is_call(option, RESOLVER) and not _given(script, option) for option in resolvers):
            yield at(strategy.node, "The TPU system is not initialized before this strategy.", FIX)


def _given(script: Script, resolver: Value) -> bool:
    """Whether an untraced call may initialize the resolver."""
    others = (call for call in script.unfollowed if call.name not in (TPU, "tensorflow.config.experimental_connect_to_cluster"))
    return any(holds(call.given, resolver) for call in others if not call.name.startswith("builtins."))
