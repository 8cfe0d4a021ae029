#!/bin/sh
# HealthCheckProgram of slurm.conf: drain a node that has a fault of its own, or fewer GPUs than its Gres.
# Slurm only logs the exit code, so this script drains the node itself. Root runs it every HealthCheckInterval, also beside jobs,
# and kills it after 60 s.

# After this many clean checks in a row, resume a node that gpucheck itself has drained. 0: an administrator resumes it.
undrain_after=0
clean=/run/gpucheck-clean-checks

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

node=${SLURMD_NODENAME:-$(hostname -s)}

# Only the line "gpucheck CODE: ..." on standard output is a fault: a broken Python also exits with 1. A node is
# healthy if gpucheck exits with 0. Everything else is no verdict. Standard error goes to the journal.
answer=$({ { gpucheck node --gres slurm --timeout 30 --drain-reason >&3 && echo sound >&3; } 2>&1 | logger -t gpucheck -p daemon.err; } 3>&1)
state=$(timeout 5 scontrol --oneliner show node "$node") || exit 0

case $answer in
  "gpucheck "*": "*)
    rm -f "$clean"
    logger -t gpucheck -p daemon.err -- "$answer"
    case $state in
      *DRAIN*' Reason=Prolog error'* | *DRAIN*' Reason=Epilog error'*) ;; # Slurm's own reason names no cause
      *DRAIN*) exit 1 ;;                                                  # it keeps its reason
    esac
    timeout 5 scontrol update nodename="$node" state=drain reason="$answer"
    exit 1
    ;;
  sound) ;;
  *) exit 0 ;;
esac

[ "$undrain_after" -gt 0 ] || exit 0
case $state in
  *DRAIN*' Reason=gpucheck '*) ;;
  *) rm -f "$clean"; exit 0 ;;
esac
count=$(($(cat "$clean" 2>/dev/null || echo 0) + 1))
echo "$count" >"$clean"
[ "$count" -lt "$undrain_after" ] || { rm -f "$clean"; timeout 5 scontrol update nodename="$node" state=resume; }
exit 0
