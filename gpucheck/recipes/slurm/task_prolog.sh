#!/bin/sh
# TaskProlog of slurm.conf: tell the user, in the job's own output, what keeps the task's Python from using its GPUs.
# Slurm interprets each line on standard output ("print", "export", "unset"), and cancels a task whose TaskProlog fails: so
# nothing is printed but "print" lines, and the exit code is always 0. A job that shall not start says so itself:
#   srun gpucheck run -- python train.py

gpucheck=/opt/gpucheck/bin/gpucheck

# Once per node, only where the task has GPUs, and only for a Python that has TensorFlow: others don't train with it.
[ "${SLURM_LOCALID:-0}" = 0 ] || exit 0
[ -n "${SLURM_STEP_GPUS:-${SLURM_JOB_GPUS:-}}" ] || exit 0
python=$(command -v python3) || exit 0
"$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("tensorflow") is None)' </dev/null >/dev/null 2>&1 || exit 0

# The environment is the task's: what was activated before sbatch or srun, not what its script activates later.
if ! message=$(timeout -k 1 20 "$gpucheck" --quick --timeout 15 --python "$python" --format termination </dev/null 2>/dev/null); then
  printf '%s\n' "$message" | sed -n '/./s/^/print gpucheck: /p'
fi
exit 0
