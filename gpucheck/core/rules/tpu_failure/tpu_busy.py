"""Another process is using the TPU, which allows only one process at a time.

Symptom:
    ABORTED: The TPU is already in use by process with pid 2239507.
    The TPU is already in use by another process probably owned by another user. Run "$ sudo lsof -w /dev/accel0"
Cause:
    libtpu gives a chip to one process at a time and records that in /tmp/libtpu_lockfile. A notebook, a job whose parent died, or
    another user's run still uses it; or another user left the lock file behind, and you can't remove it.
Verify:
    $ gpucheck --strategy tpu
Unless:
    The other process should train, not this one.
Example:
    machine: tpu-v5e
    tpu.holder_pid = 4242
    tpu.lock_file = "/tmp/libtpu_lockfile"
    tpu_resolver = {"tried": true, "connected": false, "error": "AbortedError: The TPU is already in use by process with pid 4242."}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs[1].status = "skipped"
    -> The TPU is in use by process 4242; only one process at a time can use it.
References:
    https://cloud.google.com/tpu/docs/troubleshooting/troubleshooting
"""

import re

from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.model import Finding, Fix, Fixes, Scope, rule, saw
from gpucheck.core.repairs.context import Context

IN_USE = r"already in use(?: by process with pid (\d+))?"


@rule(
    scope=Scope.HOST,
    explains=(
        "tpu-unreachable",
        "tpu-runtime-missing",
        "cpu-fallback",
        "tensorflow-cpu-build",
        "gpus-not-listed",
        "training-failed",
        "training-crashed",
    ),
)
def check(state: TpuState, context: Context) -> Finding | None:
    """Report a process that has the chip open, another user's lock file, or a connection refused for that reason."""
    tpu, resolver = state.tpu, state.resolver
    if not tpu.expected or state.connected:
        return None
    refused = re.search(IN_USE, resolver.error or "") if resolver is not None else None
    pid = tpu.holder_pid or (int(refused[1]) if refused and refused[1] else None)
    if pid is not None:
        summary = f"The TPU is in use by process {pid}; only one process at a time can use it."
    elif tpu.lock_owner is not None:
        summary = (
            f"The TPU's lock file {tpu.lock_file} belongs to {tpu.lock_owner}, who is using the TPU or left the file behind."
        )
    elif refused:
        summary = "The TPU is in use by a process that is not visible from here; only one process at a time can use it."
    else:
        return None
    return Finding(
        summary=summary,
        evidence=(
            *saw(tpu, "holder_pid", "lock_file", "lock_owner"),
            *(saw(resolver, "error") if refused else ()),
        ),
        fix=repairs(context, pid=str(pid or ""), message=(resolver.error or "") if resolver is not None else ""),
    )


def repairs(context: Context, *, pid: str = "", message: str = "") -> Fixes:
    """End the process that uses the TPU.

    Args:
        context: what is known about the machine.
        pid: the ID of the process that uses it.
        message: the framework's message.
    """
    if pid:
        yield Fix(
            text=f"Look at process {pid} (ps -o pid,user,etime,args -p {pid}), and end it if it is yours and no longer needed",
            command=f"kill {pid}",
        )
    else:
        node = re.search(r"/dev/(?:accel|vfio/)\d+", message)
        listed = f"sudo lsof -w {node[0] if node else '/dev/accel* /dev/vfio/*'}"
        yield Fix(text=f"Find the process that has the TPU open ({listed}), and end it if it is yours", needs=("sudo",))
    if context.notebook:
        yield Fix(text="Or restart the notebook's session: only one of its processes can use the TPU")
    if context.framework == "jax":
        yield Fix(text="If this program needs no TPU, run it on the CPU", command="export JAX_PLATFORMS=cpu")
    yield Fix(text="If no process has it open, ask the owner or an administrator to remove the lock file /tmp/libtpu_lockfile")
