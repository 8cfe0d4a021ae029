"""A strategy trains on a different number of replicas than it has devices.

Symptom:
    - strategy.num_replicas_in_sync is 1 on a machine with several GPUs.
    NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 3b000
    You requested gpu: [0, 1, 2, 3] But your machine only has: [0]
    Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /job:localhost/replica:0/task:0/device:GPU:1
    - Some GPUs stay at 0 % while the job runs.
Cause:
    tf.distribute.MirroredStrategy creates one replica per GPU that TensorFlow sees at that time. The number differs if a
    device list has fewer, GPUs are hidden, or the strategy was created before the GPUs were split into logical devices.
Verify:
    Both numbers are equal.
Unless:
    You list fewer devices on purpose.
Example:
    machine: hgx-h200
    training.runs[8].replicas = 1
    training.runs[8].status = "failed"
    training.runs[8].reason = "1 replica for 8 devices"
    training.runs[8].stage = "build"
    -> mirrored has 8 devices (GPU:0-7), but trains on 1 replica.
References:
    https://www.tensorflow.org/api_docs/python/tf/distribute/MirroredStrategy
"""

from gpucheck.core.combiners.training_outcomes import on_gpu
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.context import Context

_OWN_GPU = "Give each process its own GPU, in {}"


@rule(scope=Scope.CODE, explains=("nccl-failed", "training-failed"))
def check(training: Training, tensorflow: TensorFlow | None, context: Context) -> Finding | Skip | None:
    """Compare replicas with the run's devices, and the GPUs of all mirrored runs with those that TensorFlow lists."""
    mirrored = [
        (place, run)
        for place, run in enumerate(training.runs)
        if run.strategy == "mirrored" and run.status in ("passed", "failed") and run.devices and run.replicas
    ]
    for place, run in mirrored:
        count = len(run.devices)
        if run.replicas != count:
            replicas = f"{run.replicas} replica{'s' if run.replicas > 1 else ''}"
            return Finding(
                summary=f"mirrored has {count} device{'s' if count > 1 else ''} ({devices(run.devices)}), but trains on {replicas}.",
                evidence=saw(training, f"runs[{place}].devices", f"runs[{place}].replicas"),
                fix=repairs(context, devices="GPU"),
                affects=run.devices,
            )
    listed = {device.name for device in (tensorflow.devices or ()) if device.kind == "GPU"} if tensorflow else set()
    unfit = {device for run in training.runs if run.status != "passed" for device in run.devices}
    passed = [(place, run) for place, run in mirrored if on_gpu(run) and run.status == "passed"]
    left = listed - {device for _, run in passed for device in run.devices}  # --full starts with one GPU, then 2, 4, ...
    if passed and left and not left & unfit:
        place, run = max(passed, key=lambda entry: len(entry[1].devices))
        return Finding(
            summary=f"mirrored trained on {len(run.devices)} of the {len(listed)} GPUs that TensorFlow lists.",
            evidence=saw(training, f"runs[{place}].devices"),
            fix=repairs(context, devices="GPU"),
            affects=tuple(sorted(left)),
            severity=Severity.WARNING,
        )
    if not mirrored:
        return Skip("no mirrored training was run")
    return None


def repairs(context: Context, *, rank: str = "", shared: str = "", asked: str = "", count: str = "", devices: str = "") -> Fixes:
    """Match replicas and GPUs.

    Args:
        context: what is known about the machine.
        rank: the rank of a process that shares its GPU with another.
        shared: not empty if processes share a GPU, regardless of their ranks.
        asked: the GPUs that the program requests: a number or a list.
        count: the number of available GPUs; used with ``asked``.
        devices: the strategy's devices that TensorFlow does not list.
    """
    strategy = (
        Fix(text="Create the strategy without a device list: strategy = tf.distribute.MirroredStrategy()"),
        Fix(
            text="Compare its replicas with TensorFlow's devices:"
            ' print(strategy.num_replicas_in_sync, tf.config.list_logical_devices("GPU"))'
        ),
    )
    if asked:
        gpus = "one GPU" if count == "1" else f"{count or 'existing'} GPUs"
        yield Fix(text=f"Request no more than the {gpus} that this machine has; the first is number 0")
        yield Fix.look("If it should have more, check how many the driver lists", "nvidia-smi -L")
    elif rank or shared:
        yield from _one_each(context)
    else:
        yield from strategy
        if not devices:
            yield from _one_each(context)


def _one_each(context: Context) -> Fixes:
    """Give each of several processes its own GPU."""
    torch = "torch.cuda.set_device(int(os.environ['LOCAL_RANK']))"
    if not context.excludes(framework="torch"):
        yield Fix(text=f"{_OWN_GPU.format('PyTorch')}: {torch}")
    if not context.excludes(framework="tensorflow"):
        yield Fix(
            text=f"{_OWN_GPU.format('TensorFlow')}: start worker N with CUDA_VISIBLE_DEVICES=N, or with Horovod call"
            " tf.config.set_visible_devices(gpus[hvd.local_rank()], 'GPU')"
        )
    yield Fix(text="Start no more processes on a machine than it has GPUs, for example with torchrun --nproc_per_node=gpu")
