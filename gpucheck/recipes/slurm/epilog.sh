#!/bin/sh
# Epilog of slurm.conf: drain a node whose GPUs have a fault after a job, with the job in the reason.
# It always succeeds, because a failed Epilog also drains the node, with the reason "Epilog error".

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
logger -t gpucheck -p daemon.err -- "$fault (after job $SLURM_JOB_ID)"
timeout 5 scontrol update nodename="$SLURMD_NODENAME" state=drain reason="$fault (after job $SLURM_JOB_ID of user ${SLURM_JOB_USER:-$SLURM_JOB_UID})"
exit 0
