#!/bin/sh
# HealthCheckProgram of slurm.conf: drain a node that has a fault, or fewer GPUs than its Gres. It needs gpucheck.sh.
# Slurm only logs the exit code, so gpucheck.sh drains the node itself. slurmd runs this script as root every HealthCheckInterval, even
# while jobs run, and kills it after 60 s.

/bin/sh /etc/gpucheck/slurm.sh health_check >/dev/null
exit 0
