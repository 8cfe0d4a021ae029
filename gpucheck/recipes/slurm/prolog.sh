#!/bin/sh
# Prolog of slurm.conf: keep a job off a node that has a fault of its own, or fewer GPUs than its Gres.
# It checks no Python environment, so nothing that a user installed or set drains a node. A Prolog that fails drains the node
# and holds the job in the queue; SchedulerParameters=nohold_on_prolog_fail sends it to another node. This script sets the reason
# first, because Slurm's own is "Prolog error". A check without a verdict starts the job, and the journal has the reason.

# Slurm sets no PATH for a Prolog. The first folder is where gpucheck is installed on every node.
PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0

# Only the line "gpucheck CODE: ..." on standard output is a fault: a broken Python also exits with 1.
# Standard error goes to the journal.
fault=$({ gpucheck node --gres slurm --timeout 8 --drain-reason 2>&1 >&3 | logger -t gpucheck -p daemon.err; } 3>&1)
case $fault in
  "gpucheck "*": "*) ;;
  *) exit 0 ;;
esac
logger -t gpucheck -p daemon.err -- "$fault"
timeout 5 scontrol update nodename="$SLURMD_NODENAME" state=drain reason="$fault"
exit 1
