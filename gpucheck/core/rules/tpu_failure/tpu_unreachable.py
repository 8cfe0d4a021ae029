"""TensorFlow could not connect to a TPU that should be available, and no other page explains why.

Symptom:
    - UnavailableError: failed to connect to all addresses
    - DeadlineExceededError, from tf.config.experimental_connect_to_cluster
    Failed to get TPU metadata (tpu-env) from instance metadata for variable HOST_BOUNDS
Cause:
    The name in TPU_NAME leads nowhere, the TPU is being repaired or was preempted, a firewall or another zone is in between, or
    the runtime waits for the other workers of a slice.
Fix:
    1. On a TPU VM, declare the TPU as local
       $ export TPU_NAME=local
    2. Check its state and zone: gcloud compute tpus tpu-vm list --zone=ZONE
    3. On one host of a larger slice, start the program on all of them
Verify:
    $ gpucheck --strategy tpu
Unless:
    You do not use a TPU:
    $ unset TPU_NAME
Example:
    machine: tpu-v5e
    tpu_resolver = {"tried": true, "connected": false, "error": "UnavailableError: failed to connect to all addresses"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs[1].status = "skipped"
    -> TensorFlow could not connect to the TPU: UnavailableError: failed to connect to all addresses.
References:
    https://cloud.google.com/tpu/docs/troubleshooting/troubleshooting
    https://www.tensorflow.org/guide/tpu
"""

from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.environment import Environment
from gpucheck.core.repairs.wording import short


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=("training-failed",))
def check(state: TpuState) -> Finding | Skip | None:
    """The attempt to connect failed."""
    resolver = state.resolver
    if not state.tpu.expected or state.connected:
        return None
    if resolver is None or not resolver.tried or resolver.connected is None:
        why = (resolver.reason or resolver.error) if resolver is not None else None
        return Skip(f"a connection to the TPU was not tried{f': {why}' if why else ''}")
    return Finding(
        summary=f"TensorFlow could not connect to the TPU{f': {short(resolver.error)}' if resolver.error else ''}.",
        evidence=(*saw(resolver, "connected", "error"), *saw(state.tpu, "generations", "nodes", "variables")),
        fix=_fix(state.environment),
    )


def _fix(environment: Environment | None) -> tuple[Fix, ...]:
    local = environment is not None and environment.variables.get("TPU_NAME") == "local"
    name = Fix(text="On a TPU VM, declare the TPU as local", command="export TPU_NAME=local")
    state = Fix(text="Check the TPU's state and zone: gcloud compute tpus tpu-vm list --zone=ZONE")
    workers = Fix(text="On one host of a larger slice, start the program on all hosts")
    return (state, workers) if local else (name, state, workers)
