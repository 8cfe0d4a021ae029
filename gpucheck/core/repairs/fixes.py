"""Fixes that several rules share."""

from gpucheck.core.compat.xid import Xid, xid
from gpucheck.core.model import Action, Fix, Severity
from gpucheck.core.repairs.wording import listing

ALLOW_CPU = Fix(text="If you want to train on the CPU, allow it", command="gpucheck --allow-cpu")
IF_THERE_IS_ONE = Fix.look("Nothing to repair if this machine has no NVIDIA GPU; else see why it is not used", "gpucheck")
EXPECT_NO_GPU = Fix(text="If this node should have no GPU, expect none", command="gpucheck node --gres 0")
OUT_OF_SERVICE = Fix(text="Start no jobs on this machine, and have it restarted or repaired")
COMPARE_WITH_CPU = Fix.look("Compare with the CPU alone", "CUDA_VISIBLE_DEVICES=-1 gpucheck --allow-cpu")
NEW_ENVIRONMENT = Fix(text="Install TensorFlow and its libraries in a new environment, and compare again")
UPDATE_WSL_CONTAINERS = Fix(
    text="Update Docker Desktop (4.31 or newer) or the NVIDIA Container Toolkit (1.14.4 or newer), which pass a library that"
    " newer Windows drivers need"
)
TEST_GPU = Fix.look("Test the GPU itself, as an administrator", "dcgmi diag -r 3")
PREPARE_AHEAD = Fix(
    text="Prepare batches ahead, on several cores:"
    " dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).batch(n).prefetch(tf.data.AUTOTUNE)"
)
KEEP_WHAT_WAS_READ = Fix(text="Keep what was read: dataset.cache() before the random augmentation")
SEE_DISK = Fix.look("Check whether the disk is full", "df -h")
REQUEST_FROM_SLURM = Fix(
    text="Request a GPU from Slurm when starting the job: srun --gres=gpu:1 COMMAND, or #SBATCH --gres=gpu:1"
)


def without_nccl(exchange: str = "HierarchicalCopyAllReduce", *, tried: bool = False) -> Fix:
    """Train with another exchange of gradients than NCCL's.

    Args:
        exchange: class of tf.distribute.
        tried: whether training passed with it.
    """
    worked = "Until the cause is found, train without it, which was tried here and works"
    opening = worked if tried else "Meanwhile, train without NCCL"
    return Fix(text=f"{opening}: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.{exchange}())")


def for_another_machine(cuda: str = "") -> Fix:
    """Let conda install a build for GPUs that this machine does not have.

    Args:
        cuda: the version that the package needs: "12.4"; empty: unknown.
    """
    text = "If the GPU is in another machine (this is a login node or a build), name the CUDA of its driver to conda"
    return Fix(text=text, command=f"export CONDA_OVERRIDE_CUDA={cuda or '12.4'}")


def for_xids(codes: str, wanted: Action) -> tuple[Fix, ...]:
    """Return the meaning and the action of each Xid, and whether to drain the machine; the most severe first.

    Args:
        codes: of the kernel's messages, with commas: "79, 119".
        wanted: the action for all of them; the driver may request more or less than its messages usually mean.
    """
    numbers = {int(code) for code in codes.split(",") if code.strip().isdecimal()}
    known = [message for number in numbers if (message := xid(number)) is not None]
    drains = wanted.severity is Severity.ERROR
    texts = [_explained(message, drains) for message in sorted(known, key=lambda message: (not message.drain, message.code))]
    if others := [str(number) for number in sorted(numbers) if xid(number) is None]:
        texts.append(f"Look up Xid {listing(others)} in NVIDIA's list: https://docs.nvidia.com/deploy/xid-errors/")
    return tuple(Fix(text=text) for text in texts)


def _explained(message: Xid, drains: bool) -> str:
    meaning = f"Xid {message.code} means: {message.meaning}"
    if message.drain and not drains:
        return meaning
    drain = "Drain this machine: start no new jobs until this is done" if drains else "The machine does not need to be drained"
    return f"{meaning}. Do now: {message.advice}" + (f". {drain}" if message.drain is drains else "")
