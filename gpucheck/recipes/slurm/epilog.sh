#!/bin/sh
# Epilog of slurm.conf: drain a node whose GPUs are ill after a job, with the job in the reason.
# It always succeeds: an Epilog that fails drains the node too, with the reason "Epilog error".

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0
reason=$(gpucheck node --gres slurm --timeout 8 --exit-style slurm --drain-reason 2>&1) && fault=no || fault=$?
[ -z "$reason" ] || logger -t gpucheck -p daemon.err -- "$reason (after job $SLURM_JOB_ID)"
[ "$fault" != 1 ] || timeout 5 scontrol update nodename="$SLURMD_NODENAME" state=drain reason="$reason (after job $SLURM_JOB_ID of user ${SLURM_JOB_USER:-$SLURM_JOB_UID})"
exit 0
