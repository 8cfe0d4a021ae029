#!/bin/sh
# HealthCheckProgram of slurm.conf: drain a node that has a fault of its own, or fewer GPUs than its Gres. It needs gpucheck.sh.
# Slurm only logs the exit code, so gpucheck.sh drains the node itself. Root runs it every HealthCheckInterval, also beside jobs,
# and kills it after 60 s.

/bin/sh /etc/gpucheck/slurm.sh health_check >/dev/null
exit 0
