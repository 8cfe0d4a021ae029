"""A TPU is configured or requested, but this process can't find one.

Symptom:
    ValueError: Please provide a TPU Name to connect to.
    NotFoundError: TPU system not found
    - TpuPlatform is not available.
Cause:
    TPU_NAME=local (or another TPU_* variable) says that a TPU is attached, but no chip is on the PCI bus and no device node
    exists: the machine has none, the runtime type is a CPU or GPU, or a container was started without the devices. Or the
    program builds a TPUClusterResolver without a name where none is set. Or gpucheck was asked for it, with --strategy tpu.
Fix:
    1. Use a machine with a TPU: a TPU VM on Google Cloud, or in Colab the TPU runtime type (Runtime, Change runtime type)
    2. Container on a TPU VM: docker run --privileged --net=host ...; Kubernetes: resources.limits["google.com/tpu"]
       needs: network
    3. Look for the device nodes, one per chip
       ? ls -l /dev/accel* /dev/vfio/
    4. On a TPU VM, name it: tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    5. If you do not use a TPU, remove the variable
       $ unset TPU_NAME
Verify:
    ls /dev/accel* /dev/vfio/ shows one node per chip.
Unless:
    You do not use a TPU:
    $ unset TPU_NAME
Example:
    machine: tpu-v5e
    pci.google = []
    tpu.generations = []
    tpu.nodes = []
    tpu_resolver = {"tried": true, "connected": false, "error": "NotFoundError: TPU system not found"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs[1].status = "skipped"
    -> No TPU found: TPU_NAME requests one, but there is no TPU chip on the PCI bus and no device node.
References:
    https://cloud.google.com/tpu/docs/run-in-container
    https://www.tensorflow.org/guide/tpu
"""

from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.model import Finding, Fix, Request, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.repairs.wording import listing

USE = Fix(text="Use a machine with a TPU: a TPU VM on Google Cloud, or the TPU runtime type in Colab")


@rule(
    severity=Severity.ERROR,
    scope=Scope.HARDWARE,
    explains=("tpu-unreachable", "tpu-runtime-missing", "training-failed", "training-crashed"),
)
def check(request: Request | None, state: TpuState, container: Container | None) -> Finding | None:
    """A TPU is announced or asked for, and neither chip nor node is there; or a chip is there without its node."""
    tpu = state.tpu
    if not tpu.expected and request is not None and "tpu" in request.strategies:
        return _asked_for(request, tpu, container)
    if not tpu.expected or tpu.nodes or state.connected or state.remote:
        return None
    if tpu.generations:
        count, kind = len(tpu.generations), tpu.generations[0]
        chips = f"{count} TPU {kind} chips are" if count > 1 else f"a TPU {kind} chip is"
        summary = f"No TPU found: {chips} on the PCI bus, but has no device node in /dev."
    else:
        names = listing(list(tpu.variables)) or "the environment"
        verb = "request" if len(tpu.variables) > 1 else "requests"
        summary = f"No TPU found: {names} {verb} one, but there is no TPU chip on the PCI bus and no device node."
    return Finding(summary=summary, evidence=saw(tpu, "generations", "nodes", "variables"), fix=_fix(container))


def _asked_for(request: Request, tpu: Tpu, container: Container | None) -> Finding:
    """Nothing but the request names a TPU."""
    name = Fix(text="If the TPU is elsewhere on the network, name it: export TPU_NAME=NAME")
    return Finding(
        summary="No TPU found: --strategy tpu requests one, but this machine has no chip on the PCI bus, no device node and no"
        " variable such as TPU_NAME.",
        evidence=(*saw(tpu, "generations", "nodes", "variables"), *saw(request, "strategies")),
        fix=(*sorted(_fix(container)[:-1], key=lambda fix: fix is not USE), name),
    )


def _fix(container: Container | None) -> tuple[Fix, ...]:
    look = Fix(text="Look for the device nodes, one per chip", command="ls -l /dev/accel* /dev/vfio/", kind="look")
    give = Fix(
        text="Give the container the TPU: docker run --privileged --net=host ..., or limits google.com/tpu in Kubernetes",
        needs=("network",),
    )
    leave = Fix(text="If you do not use a TPU, remove the variable", command="unset TPU_NAME")
    inside = container is not None and container.inside
    return (give, look, USE, leave) if inside else (USE, look, leave)
