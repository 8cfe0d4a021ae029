"""Fixes that several rules give."""

from collections.abc import Iterable

from gpucheck.core.compat.xid import Xid
from gpucheck.core.model import Fix

CPU_IS_ENOUGH = Fix(text="If training on the CPU is what you want, say so", command="gpucheck --allow-cpu")
NONE_PROMISED = Fix(text="If this node is meant to have none, say so", command="gpucheck node --gres 0")
TEST_GPU = Fix(text="Test the GPU itself, as an administrator", command="dcgmi diag -r 3", kind="look")
ASK_SLURM = Fix(text="Ask Slurm for a GPU when starting the job: srun --gres=gpu:1 COMMAND, or #SBATCH --gres=gpu:1")


def for_xids(xids: Iterable[Xid]) -> tuple[Fix, ...]:
    """What each code asks for, and whether the machine should be drained; one fix per code, the gravest first."""
    return tuple(
        Fix(
            text=f"Xid {message.code} means: {message.meaning}. Do now: {message.action}. "
            + (
                "Drain this machine: no new jobs until that is done"
                if message.drain
                else "The machine need not be drained for it"
            )
        )
        for message in sorted(set(xids), key=lambda message: (not message.drain, message.code))
    )
