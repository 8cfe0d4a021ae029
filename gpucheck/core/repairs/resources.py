"""Fixes for memory and processors: give more to a container, a pod or a job, and free GPU memory that others use."""

from gpucheck.core.model import Fix, Fixes
from gpucheck.core.repairs.context import Context

UPDATE_DOCKER = Fix(
    text="Update Docker (to 20.10.10 or newer), runc and libseccomp on the host: older ones refuse the system call that starts"
    " threads (clone3); or start the container with docker run --security-opt seccomp=unconfined"
)
HOLDERS = Fix.look(
    "Check which processes use the GPU's memory", "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv"
)


def at_start(context: Context, what: str, *, docker: str, pod: str) -> Fixes:
    """Yield how to restart a container or a pod with another option; nothing in a batch job or a cloud service's notebook.

    Args:
        context: where it runs.
        what: "with more memory".
        docker: options of docker run; empty: none exists.
        pod: the change for Kubernetes; empty: none exists.
    """
    if context.notebook or (context.scheduler and not context.in_container):
        return
    run = "podman run" if context.kinds["container"] == "podman" else "docker run"
    if docker:
        start = Fix(text=f"Start the container {what}: {run} {docker} IMAGE")
        yield from context.only(start, container="docker|podman|containerd|nspawn")
    if pod:
        yield from context.only(Fix(text=pod), container="kubernetes")


def granted(context: Context, what: str, *, docker: str, kubernetes: str, slurm: str) -> Fixes:
    """Yield how to give a container, a pod or a job more of a resource; nothing in a cloud service's notebook.

    Args:
        context: where it runs.
        what: "memory".
        docker: the option of docker run.
        kubernetes: the entry in a pod's manifest.
        slurm: the option of sbatch.
    """
    if context.notebook:
        return
    pod = f"Give the pod more {what} in its manifest: {kubernetes}"
    yield from at_start(context, f"with more {what}", docker=docker, pod=pod)
    if context.kinds["container"] in (None, "", "apptainer", "enroot"):  # those that batch jobs use
        yield from context.only(Fix(text=f"Request more {what} for the job: #SBATCH {slurm}"), scheduler="slurm")


def disable_preallocation(context: Context, text: str) -> Fixes:
    """Yield the variable that stops the framework from reserving GPU memory at its start; PyTorch does not reserve any.

    Args:
        context: with the framework; unknown: TensorFlow.
        text: the effect of the variable.
    """
    if context.framework == "jax":
        yield Fix(text=text, command="export XLA_PYTHON_CLIENT_PREALLOCATE=false")
    elif context.framework != "torch":
        yield Fix(text=text, command="export TF_FORCE_GPU_ALLOW_GROWTH=true")
