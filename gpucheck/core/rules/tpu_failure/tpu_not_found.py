"""A TPU is configured or requested, but this process can't find one.

Symptom:
    ValueError: Please provide a TPU Name to connect to.
    NotFoundError: TPU system not found
    - TpuPlatform is not available.
Cause:
    TPU_NAME=local (or another TPU_* variable) indicates that a TPU is attached, but no chip is on the PCI bus and no device node
    exists: the machine has none, the runtime type is a CPU or GPU, or a container was started without the devices. Or the
    program creates a TPUClusterResolver without a name, and no variable sets one. Or --strategy tpu was used.
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

import re

from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.tpu_failure._packages import tpu_packages


@rule(
    scope=Scope.HARDWARE,
    explains=("tpu-unreachable", "tpu-runtime-missing", "cpu-fallback", "training-failed", "training-crashed"),
)
def check(request: Request | None, state: TpuState, context: Context) -> Finding | None:
    """Report a TPU that is configured or requested but has neither a chip nor a device node, or a chip without its node."""
    tpu = state.tpu
    if not tpu.expected and request is not None and "tpu" in request.strategies:
        return _requested(request, tpu, context)
    if not tpu.expected or tpu.nodes or state.connected or state.remote:
        return None
    if tpu.generations:
        count, kind = len(tpu.generations), tpu.generations[0]
        chips, have = (f"{count} TPU {kind} chips are", "have") if count > 1 else (f"a TPU {kind} chip is", "has")
        summary = f"No TPU found: {chips} on the PCI bus, but {have} no device node in /dev."
    else:
        names = listing(list(tpu.variables)) or "the environment"
        verb = "request" if len(tpu.variables) > 1 else "requests"
        summary = f"No TPU found: {names} {verb} one, but there is no TPU chip on the PCI bus and no device node."
    return Finding(
        summary=summary,
        evidence=saw(tpu, "generations", "nodes", "variables"),
        fix=repairs(context, message=summary, variables=" ".join(tpu.variables), chips="".join(tpu.generations[:1])),
    )


def _requested(request: Request, tpu: Tpu, context: Context) -> Finding:
    """Report that this machine shows no sign of the requested TPU."""
    return Finding(
        summary="No TPU found: --strategy tpu requests one, but this machine has no chip on the PCI bus, no device node and no"
        " variable such as TPU_NAME.",
        evidence=(*saw(tpu, "generations", "nodes", "variables"), *saw(request, "strategies")),
        fix=repairs(context, message="--strategy tpu"),
    )


def repairs(context: Context, *, message: str = "", variables: str = "", chips: str = "") -> Fixes:
    """Get a TPU, or stop asking for one.

    Args:
        context: what is known about the machine.
        message: the framework's message; empty: unknown.
        variables: names of the variables that configure the TPU, separated by spaces.
        chips: the generation of the chips on the bus, if their device nodes are missing.
    """
    if "UNIMPLEMENTED" in message:  # JAX has no such backend on this system
        command = "set JAX_PLATFORMS=" if context.windows or "windows" in message else "unset JAX_PLATFORMS"
        yield Fix(text="Remove JAX_PLATFORMS, so that JAX chooses a backend that this machine has", command=command)
        return
    named = re.search(r"TPU Name to connect|COLAB_TPU_ADDR|TPU_SYSTEM", message)
    local = Fix(
        text="On a TPU VM, and in Colab or Kaggle, select the local TPU:"
        ' tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")'
    )
    fixes = [*_place(context, message, chips), *([local] if named or not message else ())]
    fixes.sort(key=lambda fix: fix is not local or not named or context.notebook is not None)  # a TPU is expected there
    yield from fixes
    if "ConfigureDistributedTPU" in message:
        package = Fix(text="On a TPU VM, replace TensorFlow with the build for TPUs", command=context.pip(*tpu_packages()))
        yield from context.only(package, framework="tensorflow")
    if "--strategy" in message:
        yield Fix(text="If the TPU is elsewhere on the network, set its name: export TPU_NAME=NAME")
    if (variables or not message) and not chips:
        many = "variables" if " " in variables else "variable"
        yield Fix(
            text=f"If you do not use a TPU, remove the {many} that configure{'' if ' ' in variables else 's'} it",
            command=f"unset {variables or 'TPU_NAME'}",
        )
    look = Fix.look("Look for the device nodes, one per chip", "ls -l /dev/accel* /dev/vfio/")
    yield from () if context.notebook else (look,)


def _place(context: Context, message: str, chips: str) -> Fixes:
    """Run on a machine with a TPU, or make it visible to this process."""
    if context.notebook:
        place = "Settings, Accelerator" if context.notebook == "kaggle" else "Runtime, Change runtime type"
        yield Fix(text=f"Choose a TPU as the notebook's accelerator ({place})")
        return
    if "googleapis.com" in message:
        yield Fix(text="Check the name, the project and the zone of the TPU: gcloud compute tpus tpu-vm list --zone=ZONE")
        return
    yield from _container(context) if context.in_container or not message else ()
    if not chips:
        yield Fix(text="Use a machine with a TPU: a TPU VM on Google Cloud, or the TPU accelerator of a Colab or Kaggle notebook")
    elif not context.in_container:
        yield Fix(text="Restart this machine; if its image is not a TPU VM image, create a machine from one")


def _container(context: Context) -> Fixes:
    """Give the container the TPU."""
    docker = Fix(text="Start the container with the TPU: docker run --privileged --net=host IMAGE", needs=("network",))
    pod = Fix(text='Request a TPU in the container\'s specification: resources.limits["google.com/tpu"]: 4')
    yield from context.only(docker, container="docker|containerd|podman")
    yield from context.only(pod, container="kubernetes")
