#!/bin/sh
# TaskProlog of slurm.conf: print to the job's output why the task's Python can't use its GPUs.
# Slurm interprets each line on standard output ("print", "export", "unset"), and cancels a task whose TaskProlog fails. So
# this script prints only "print" lines, and its exit code is always 0. If a job must not start on a fault, let it check itself:
#   srun gpucheck run -- python train.py

gpucheck=/opt/gpucheck/bin/gpucheck

# Once per node, only if the task has GPUs, and only for a Python that has TensorFlow.
[ "${SLURM_LOCALID:-0}" = 0 ] || exit 0
[ -n "${SLURM_STEP_GPUS:-${SLURM_JOB_GPUS:-}}" ] || exit 0
python=$(command -v python3) || exit 0
"$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("tensorflow") is None)' </dev/null >/dev/null 2>&1 || exit 0

# This checks the environment that was active before sbatch or srun, not one that the task's script activates later.
if ! message=$(timeout -k 1 20 "$gpucheck" --quick --timeout 15 --python "$python" --format termination </dev/null 2>/dev/null); then
  printf '%s\n' "$message" | sed -n '/./s/^/print gpucheck: /p'
fi
exit 0
