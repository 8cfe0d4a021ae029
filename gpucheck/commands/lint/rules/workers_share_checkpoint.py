"""All workers save the model to the same path.

Symptom:
    - The saved model can't be loaded, or training stops with an error about a checkpoint file.
Cause:
    With MultiWorkerMirroredStrategy every worker must take part in saving, because variables are read from all replicas. If all
    write to one path on a shared file system, they overwrite each other's files.
Fix:
    1. Keep only the chief's file: give every other worker a separate path, from task_type and task_id of
       strategy.cluster_resolver, and delete those files.
    2. For checkpoints to resume from: keras.callbacks.BackupAndRestore, which does this.
Verify:
    After training, ls shows one complete model, and keras.models.load_model loads it.
Unless:
    Each worker has its own disk. Scripts that read the worker's task or TF_CONFIG are not reported.
Example:
    bad:
        import keras
        import tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
        model.save("/shared/model.keras")
    good:
        import keras
        import tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
        worker = strategy.cluster_resolver.task_id
        model.save("/shared/model.keras" if worker == 0 else f"/tmp/model-{worker}.keras")
References:
    https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras#model_saving_and_loading
"""

import re

from gpucheck.commands.lint.lookup import all_calls, constant
from gpucheck.commands.lint.models import MIRRORED, WORKERS, built, strategies_around
from gpucheck.commands.lint.script import Findings, Script, at, rule

FIX = "Give each worker except the chief a separate path, based on strategy.cluster_resolver.task_id."
# Names that distinguish the workers, however the program uses them.
IDENTITY = re.compile(r"task_id|task_type|TF_CONFIG|is_chief|SLURM_PROCID|RANK|hostname|gethostname|getpid|mkdtemp|should_save")


@rule(severity="warning", words=("MultiWorkerMirroredStrategy",))
def check(script: Script) -> Findings:
    """Report literal paths of a model in this strategy's scope, if the script does not distinguish the workers."""
    if IDENTITY.search(script.written) or not all_calls(script.calls_named(*MIRRORED), WORKERS):
        return
    for call in script.calls:
        saves = call.method in ("save", "save_weights", "export") and all_calls(strategies_around(built(call.receiver)), WORKERS)
        path = constant(call.argument("filepath", 0))
        if (saves or call.name == "keras.callbacks.ModelCheckpoint") and isinstance(path, str):
            yield at(call.node, f"Every worker writes to {path}.", FIX)
