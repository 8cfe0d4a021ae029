"""Fixes that several rules give."""

from gpucheck.model import Fix

CPU_IS_ENOUGH = Fix(text="If training on the CPU is what you want, say so", command="gpucheck --allow-cpu")
TEST_GPU = Fix(text="Test the GPU itself, as an administrator", command="dcgmi diag -r 3")
