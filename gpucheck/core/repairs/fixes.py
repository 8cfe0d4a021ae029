"""Fixes that several rules share."""

from gpucheck.core.compat.xid import xid
from gpucheck.core.model import Fix

CPU_IS_ENOUGH = Fix(text="If you want to train on the CPU, allow it", command="gpucheck --allow-cpu")
NONE_PROMISED = Fix(text="If this node should have no GPU, say so", command="gpucheck node --gres 0")
COMPARE_WITH_CPU = Fix(text="Compare with the CPU alone", command="CUDA_VISIBLE_DEVICES=-1 gpucheck --allow-cpu", kind="look")
FRESH = Fix(text="Install TensorFlow and its libraries in a new environment, and compare again")
TEST_GPU = Fix(text="Test the GPU itself, as an administrator", command="dcgmi diag -r 3", kind="look")
ASK_SLURM = Fix(text="Request a GPU from Slurm when starting the job: srun --gres=gpu:1 COMMAND, or #SBATCH --gres=gpu:1")


def without_nccl(exchange: str = "HierarchicalCopyAllReduce", *, tried: bool = False) -> Fix:
    """Train with another exchange of gradients than NCCL's.

    Args:
        exchange: class of tf.distribute.
        tried: whether training passed with it.
    """
    worked = "Until the cause is found, train without it, which was tried here and works"
    opening = worked if tried else "Meanwhile, train without NCCL"
    return Fix(text=f"{opening}: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.{exchange}())")


def for_xids(codes: str) -> tuple[Fix, ...]:
    """Return what each Xid means and asks for, and whether to drain the machine; the most severe first.

    Args:
        codes: of the kernel's messages, with commas: "79, 119"; those that are not known are left out.
    """
    known = {message for code in codes.split(",") if code.strip().isdecimal() and (message := xid(int(code))) is not None}
    return tuple(
        Fix(
            text=f"Xid {message.code} means: {message.meaning}. Do now: {message.advice}. "
            + (
                "Drain this machine: start no new jobs until this is done"
                if message.drain
                else "The machine does not need to be drained"
            )
        )
        for message in sorted(known, key=lambda message: (not message.drain, message.code))
    )
