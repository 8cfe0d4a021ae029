"""Derive from the child that trained on single devices whether workers can train, and how long to wait for them."""

from gpucheck.core.child.messages.frameworks import KerasImported, TensorFlowImported
from gpucheck.core.child.messages.training import Trained
from gpucheck.core.cluster.watch import Limits
from gpucheck.core.host import Child, Host

QUIET_SECONDS = 30.0  # without progress, plus a multiple of the first step's time on a single device
QUIET_FACTOR = 10.0
IMPORT_SECONDS = 60.0  # for TensorFlow's import, or a multiple of its earlier time
IMPORT_FACTOR = 6.0
LIMIT_SECONDS = 150.0
RESERVE_SECONDS = 3.0  # of the run's time, to end the remaining workers


def why_not(framework: Child) -> str | None:
    """Why workers cannot train with the Keras backend that the child found; None: they can."""
    keras = framework.message(KerasImported)
    backend = None if keras is None else keras.outcome.backend
    if backend == "tensorflow":
        return None
    return f"Keras runs on {backend or 'no backend'} here; TensorFlow's strategies cannot train it"


def limits(host: Host, framework: Child, joined: bool) -> Limits:
    """How long to wait for workers, from the times of the import and of single devices in that child."""
    imported = framework.message(TensorFlowImported)
    first = [
        trained.run.first_step_seconds or 0.0
        for trained in framework.messages(Trained).values()
        if trained.run.strategy == "one_device" and not trained.run.compiled and not trained.run.trained_with
    ]
    left = max(0.0, host.remaining() - RESERVE_SECONDS)
    seconds = imported.outcome.import_seconds if imported else None
    return Limits(
        total=left if joined else min(left, LIMIT_SECONDS),
        quiet=QUIET_SECONDS + QUIET_FACTOR * max(first, default=0.0),
        imported=max(IMPORT_SECONDS, IMPORT_FACTOR * (seconds or 0.0)),
        joined=joined,
    )
