"""Fixes that several rules give."""

from gpucheck.core.model import Fix

CPU_IS_ENOUGH = Fix(text="If training on the CPU is what you want, say so", command="gpucheck --allow-cpu")
NONE_PROMISED = Fix(text="If this node is meant to have none, say so", command="gpucheck node --gres 0")
TEST_GPU = Fix(text="Test the GPU itself, as an administrator", command="dcgmi diag -r 3", kind="look")
ASK_SLURM = Fix(text="Ask Slurm for a GPU when starting the job: srun --gres=gpu:1 COMMAND, or #SBATCH --gres=gpu:1")
