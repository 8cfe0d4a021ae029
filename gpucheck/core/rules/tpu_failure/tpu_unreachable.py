"""TensorFlow could not connect to a TPU that should be available, and no other diagnosis explains why.

Symptom:
    - UnavailableError: failed to connect to all addresses
    - DeadlineExceededError, from tf.config.experimental_connect_to_cluster
    Failed to get TPU metadata (tpu-env) from instance metadata for variable HOST_BOUNDS
Cause:
    No TPU has the name in TPU_NAME, the TPU is being repaired or was preempted, a firewall blocks the connection, the TPU is in
    another zone, or the runtime waits for the other workers of a slice.
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

import re

from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import short
from gpucheck.core.repairs.context import Context

_ALL_HOSTS = Fix(text="For a slice with several hosts, start the program on all of them at the same time")
# The framework's error -> the first fix.
_NAMED = {
    r"Socket closed|Connection reset|Endpoint read failed": Fix(
        text="Restart the program from its last checkpoint once the TPU is ready: its worker ended or was restarted (preemption,"
        " maintenance, or its host ran out of memory)"
    ),
    r"[Bb]arrier timed out": Fix(
        text="Read the output of the tasks that the message names, on their hosts: they crashed or were never started, and the others"
        " wait for them"
    ),
    r"target /job:localhost": Fix(
        text="Give the remote TPU data that it can read itself: files in a bucket (gs://...) or arrays, not generators,"
        " tf.py_function or local files; or use a TPU VM"
    ),
    r"slice_builder_worker_addresses": Fix(
        text="Remove the addresses of the workers of a larger slice, before TensorFlow is imported",
        command="unset TPU_PROCESS_ADDRESSES",
    ),
    r"SliceBuilder|taking more than|all TPU hosts|topology": _ALL_HOSTS,
    r"(?i)unhealthy|preempted": Fix(
        text="Create the TPU again: delete it with gcloud compute tpus tpu-vm delete NAME, and wait while it is repaired"
    ),
    r"Operation not permitted|Permission denied": Fix(
        text="Give this user access to the TPU's device files: run as root, or in a container with --privileged"
    ),
    r"TPU metadata|tpu-env": Fix(text="Skip the metadata server, which only a TPU VM has", command="export TPU_SKIP_MDS_QUERY=1"),
}


@rule(scope=Scope.HOST, explains=("training-failed",))
def check(state: TpuState, context: Context) -> Finding | Skip | None:
    """Report a failed attempt to connect."""
    resolver = state.resolver
    if not state.tpu.expected or state.connected:
        return None
    if resolver is None or not resolver.tried or resolver.connected is None:
        why = (resolver.reason or resolver.error) if resolver is not None else None
        return Skip(f"a connection to the TPU was not tried{f': {why}' if why else ''}")
    name = state.environment.variables.get("TPU_NAME", "") if state.environment is not None else ""
    return Finding(
        summary=f"TensorFlow could not connect to the TPU{f': {short(resolver.error)}' if resolver.error else ''}.",
        evidence=(*saw(resolver, "connected", "error"), *saw(state.tpu, "generations", "nodes", "variables")),
        fix=repairs(context, message=resolver.error or "", name=name),
    )


def repairs(context: Context, *, message: str = "", name: str = "") -> Fixes:
    """Make the TPU reachable.

    Args:
        context: what is known about the machine.
        message: the framework's message.
        name: the value of TPU_NAME.
    """
    specific = next((fix for pattern, fix in _NAMED.items() if re.search(pattern, message)), None)
    if specific is not None:
        yield specific
    if context.in_container and not context.notebook:
        yield Fix(text="Start the container with the host's network and devices: docker run --privileged --net=host IMAGE")
    if context.notebook:
        yield Fix(text="Restart the notebook's session, with a TPU as its accelerator")
        return
    elsewhere = "grpc://" in message
    if name != "local" and specific is None and not elsewhere and not context.excludes(framework="tensorflow"):
        yield Fix(text="On a TPU VM, declare the TPU as local", command="export TPU_NAME=local")
    yield Fix(text="Check the TPU's state and zone: gcloud compute tpus tpu-vm list --zone=ZONE")
    if specific is None:
        yield _ALL_HOSTS
