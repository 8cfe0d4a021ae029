"""Keras 3's fit does not train under MultiWorkerMirroredStrategy.

Symptom:
    ValueError: Attempt to convert a value (PerReplica:{ ... }) with an unsupported type (<class 'tensorflow.python.distribute.values.PerReplica'>) to a Tensor.
    - RuntimeError: Method requires being in cross-replica context, raised within keras/src/backend/tensorflow/trainer.py
    - Model.fit fails in its first step as soon as TF_CONFIG lists several workers
Cause:
    Keras 3 trains on several machines through its own keras.distribution (on JAX). Of TensorFlow's strategies, fit supports those
    for one machine. Under MultiWorkerMirroredStrategy, it passes on the workers' values as if they were tensors.
Verify:
    gpucheck --full trains multi_worker_mirrored with a custom loop, and reports the result of fit (fit_verified in the report).
Unless:
    Never; with Keras 2 (tf_keras) fit works there.
Example:
    log.events = [{"kind": "multi-worker-fit-unsupported", "line": 40, "text": "ValueError: Attempt to convert a value (PerReplica:{"}]
    training.runs[1].strategy = "multi_worker_mirrored"
    training.runs[1].status = "failed"
    training.runs[1].reason = "ValueError: Attempt to convert a value (PerReplica:{"
    -> Keras 3's fit was used under MultiWorkerMirroredStrategy, which it does not support: ValueError: Attempt to convert a value (PerReplica:{.
References:
    https://www.tensorflow.org/tutorials/distribute/multi_worker_with_ctl
    https://keras.io/guides/distribution/
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.model.wording import MULTI_WORKER_FIT
from gpucheck.core.probes.cluster import Cluster
from gpucheck.core.probes.keras import Keras
from gpucheck.core.repairs.context import Context


@rule(scope=Scope.CODE, explains=("keras-version-conflict", "training-failed", "training-crashed"))
def check(cluster: Cluster | None, keras: Keras | None, log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report that Keras tried to convert values of replicas. TF_CONFIG alone does not show whether the program calls fit."""
    failure = log_causes.failure(
        "multi-worker-fit-unsupported",
        MULTI_WORKER_FIT,
        repairs(context),
        on=lambda run: run.strategy == "multi_worker_mirrored",
    )
    if failure is not None:
        return failure
    several = cluster is not None and cluster.worker_count > 1
    if several and keras is not None and keras.backend == "tensorflow" and not keras.legacy:
        return Skip("TF_CONFIG lists several workers; whether the program trains them with Keras 3's fit is not known")
    return log_causes.outcomes.skip


def repairs(context: Context) -> Fixes:
    """Train with Keras 2, with a custom loop, or on one machine."""
    installed = context.packages.tensorflow if context.packages is not None else None
    version = installed.version if installed is not None else context.framework_version
    install = context.pip(f"tf_keras=={versions.minor(version)}.*" if version else "tf_keras")
    setting = "set TF_USE_LEGACY_KERAS=1" if context.windows else "export TF_USE_LEGACY_KERAS=1"
    yield Fix(
        text="Train with Keras 2 (tf.keras in the program), and set TF_USE_LEGACY_KERAS=1 before TensorFlow is imported",
        command=f"{install} && {setting}",
    )
    yield Fix(
        text="Or write a custom training loop: strategy.experimental_distribute_dataset, strategy.run(step, ...)"
        " and strategy.reduce"
    )
    yield Fix(text="Or train on one machine with tf.distribute.MirroredStrategy, for which fit works")
