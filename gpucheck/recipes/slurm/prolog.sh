#!/bin/sh
# Prolog of slurm.conf: keep a job with GPUs off a node that has a fault, or fewer GPUs than its Gres. It needs gpucheck.sh.
# It checks no Python environment, so nothing that a user installed or set can drain a node. A Prolog that fails drains the node
# and holds the job in the queue; SchedulerParameters=nohold_on_prolog_fail sends it to another node. gpucheck.sh sets the reason
# first, because Slurm's own is "Prolog error". In every other case the job starts, and the journal has the reason.

[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0
answer=$(/bin/sh /etc/gpucheck/slurm.sh prolog)
case $answer in
  refuse) exit 1 ;;
  start) ;;
  *) /usr/bin/logger -t gpucheck -p daemon.err -- "/etc/gpucheck/slurm.sh is missing or broken: job ${SLURM_JOB_ID:-} starts without a check" ;;
esac
exit 0
