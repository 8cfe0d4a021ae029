#!/bin/sh
# Epilog of slurm.conf: drain a node whose GPUs have a fault after a job. It needs gpucheck.sh. The reason names the job if the
# Prolog found the node healthy. It always succeeds, because a failed Epilog also drains the node, with the reason "Epilog error".

[ -z "${SLURM_JOB_GPUS:-}" ] || /bin/sh /etc/gpucheck/slurm.sh epilog >/dev/null
exit 0
