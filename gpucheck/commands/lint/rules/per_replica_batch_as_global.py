"""A batch size per replica is used as the global batch size.

Symptom:
    - Adding GPUs does not make training faster: each GPU gets a fraction of the batch.
    - The loss of a custom loop is too large by a factor of the number of GPUs.
Cause:
    The dataset passed to fit or to experimental_distribute_dataset must be batched with the global batch size, which the
    strategy divides among the replicas; compute_average_loss also divides by the global size. First multiply a size per
    replica by strategy.num_replicas_in_sync. Only distribute_datasets_from_function batches per replica.
Fix:
    1. global_batch_size = batch_size_per_replica * strategy.num_replicas_in_sync
    2. Use it to batch the dataset and to average the loss.
Verify:
    With twice as many GPUs, an epoch has half as many steps.
Unless:
    The number is the global batch size and its name is misleading: rename it. A number without such a name is reported only
    if the program lists at least as many GPUs, four or more.
Example:
    bad:
        import tensorflow as tf
        BATCH_SIZE_PER_REPLICA = 64
        strategy = tf.distribute.MirroredStrategy()
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH_SIZE_PER_REPLICA)
        dataset = strategy.experimental_distribute_dataset(dataset)
    good:
        import tensorflow as tf
        BATCH_SIZE_PER_REPLICA = 64
        strategy = tf.distribute.MirroredStrategy()
        GLOBAL_BATCH_SIZE = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(GLOBAL_BATCH_SIZE)
        dataset = strategy.experimental_distribute_dataset(dataset)
References:
    https://www.tensorflow.org/tutorials/distribute/input#batching
    https://www.tensorflow.org/tutorials/distribute/custom_training
"""

import re

from gpucheck.commands.lint.datasets import chains
from gpucheck.commands.lint.devices import LISTS
from gpucheck.commands.lint.lookup import all_calls, constant, is_call, is_none, options
from gpucheck.commands.lint.models import MIRRORED, ONE_HOST, WORKERS, several_replicas, strategies_around
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Attribute, Call, Constant, Items, Name, Value

PER_REPLICA = re.compile(r"per_?(replica|gpu|device|core)|(?<!multi_)(?<!cross_)replica_?batch", re.IGNORECASE)
GLOBAL = re.compile("global|total", re.IGNORECASE)
PER_WORKER = re.compile(r"per_?worker", re.IGNORECASE)  # with one worker, this is the global size


@rule(severity="warning", words=("Strategy",))
def check(script: Script) -> Findings:
    """Report a batch size whose name says per replica, if it is not multiplied by anything."""
    for call in script.methods("experimental_distribute_dataset"):
        chosen = list(options(call.receiver))
        if _several(chosen) and _per_worker(call):
            yield from _batched(script, call.argument("dataset", 0), chosen)
    for call, models in script.trainings:
        around = strategies_around(models)
        if _several(around):
            yield from _batched(script, call.argument("x", 0), around)
            yield from _sized(script, call, call.argument("batch_size", 2), "fit", around)
    made: list[Value] = [call for call in script.calls_named(*MIRRORED) if _several([call])]
    for call in script.calls_named("tensorflow.nn.compute_average_loss") if made else ():
        yield from _sized(script, call, call.keywords.get("global_batch_size"), "compute_average_loss", made)


def _per_worker(call: Call) -> bool:
    """Whether the dataset is definitely batched for all replicas of a worker: the default, which options can change."""
    given = call.argument("options", 1)
    if given is None:
        return not call.starred
    if not is_call(given, "tensorflow.distribute.InputOptions") or given.starred:
        return is_none(given)
    mode = given.argument("experimental_replication_mode", 1)
    return mode is None or (isinstance(mode, Name) and mode.path == "tensorflow.distribute.InputReplicationMode.PER_WORKER")


def _batched(script: Script, dataset: Value | None, strategies: list[Value]) -> Findings:
    for chain in chains(dataset):
        later = chain.steps if chain.batch is None else chain.steps[chain.steps.index(chain.batch) + 1 :]
        if any(step.method in ("rebatch", "unbatch") for step in later):
            continue
        if chain.batch is not None:
            yield from _sized(script, chain.batch, chain.batch.argument("batch_size", 0), "the dataset", strategies)
        elif chain.source.name.endswith("_dataset_from_directory"):
            yield from _sized(script, chain.source, chain.source.keywords.get("batch_size"), "the dataset", strategies)


def _sized(script: Script, call: Call, size: Value | None, what: str, strategies: list[Value]) -> Findings:
    if any(map(GLOBAL.search, _names(size))):
        return
    number, gpus = constant(size), min(map(_named_gpus, strategies))
    name = _per_replica(script, size, workers=all_calls(strategies, WORKERS))
    if name:
        message = f"{name} is the batch size of one replica, but {what} here needs the global batch size."
        yield at(call.node, message, f"Use {name} * strategy.num_replicas_in_sync.")
    elif isinstance(number, int) and 1 < number <= gpus:
        message = f"The global batch of {number} leaves at most one sample for each of {gpus} replicas."
        yield at(call.node, message, f"Use {number} * strategy.num_replicas_in_sync.")


def _per_replica(script: Script, size: Value | None, *, workers: bool) -> str | None:
    """Return the name of a size that is definitely per replica, or per worker if the strategies have several workers."""
    names = set() if constant(size) == 1 else _names(size)
    if not isinstance(size, Constant) and any(_computed(script, name) for name in names):
        return None  # multiplied elsewhere: FLAGS.batch_size_per_replica *= strategy.num_replicas_in_sync
    per = [name for name in sorted(names) if PER_REPLICA.search(name) or (workers and PER_WORKER.search(name))]
    return per[0] if per else None


def _names(size: Value | None) -> set[str]:
    """Return the names of a size in the program."""
    if isinstance(size, Constant):
        return size.names
    if isinstance(size, Attribute):
        return {size.name}
    return {size.path.rpartition(".")[2]} if isinstance(size, Name) else set()  # FLAGS.batch_size_per_replica


def _computed(script: Script, name: str) -> bool:
    """Whether the program assigns a computed or unknown value to an attribute of this name."""
    given = [store.value for store in script.stores if constant(store.key) == name]
    given += [value for call in script.calls for key, value in call.keywords.items() if key == name]
    return not all(isinstance(value, (Constant, Attribute, Name)) for value in given)


def _named_gpus(strategy: Value) -> int:
    """Return how many GPUs a program lists for a strategy; 0 below four, where one sample for each may be intended."""
    given = _devices(strategy)
    names = [str(constant(device)).lower() for device in given.items] if isinstance(given, Items) else []
    return len(names) if len(names) >= 4 and not any("cpu" in name for name in names) else 0


def _devices(strategy: Value) -> Value | None:
    return strategy.argument("devices", 0) if is_call(strategy, ONE_HOST) else None


def _several(strategies: list[Value]) -> bool:
    """Whether one of the strategies may have more than one replica; others may be fallbacks without those devices."""
    return several_replicas(strategies) and all(map(_uses_several_devices, strategies))


def _uses_several_devices(strategy: Value) -> bool:
    """Whether a strategy uses all devices, or a list of several."""
    devices = _devices(strategy)
    if isinstance(devices, Items):
        return len(devices.items) > 1
    return is_none(devices) or all_calls(options(devices), *LISTS)
