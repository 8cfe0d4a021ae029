#!/bin/sh
# Prolog of slurm.conf: keep a job off a node that has a fault of its own, or fewer GPUs than its Gres.
# No Python environment is looked at, so nothing that a user installed or set drains a node. A Prolog that fails drains the node
# and holds the job in the queue; SchedulerParameters=nohold_on_prolog_fail sends it to another node. The reason is set first:
# Slurm's own would be "Prolog error". A check that can't look starts the job, and says so in the journal.

# Slurm gives a Prolog no PATH. The first folder is where keras-gpucheck is installed on every node.
PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0
reason=$(gpucheck node --gres slurm --timeout 8 --exit-style slurm --drain-reason 2>&1) && fault=no || fault=$?
[ -z "$reason" ] || logger -t gpucheck -p daemon.err -- "$reason"
[ "$fault" != 1 ] || { timeout 5 scontrol update nodename="$SLURMD_NODENAME" state=drain reason="$reason"; exit 1; }
exit 0
