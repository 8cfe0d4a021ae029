#!/bin/sh
# HealthCheckProgram of slurm.conf: drain a node that has a fault of its own, or fewer GPUs than its Gres.
# Slurm only logs the exit code, so this script drains the node itself. Root runs it every HealthCheckInterval, also beside jobs,
# and kills it after 60 s.

# After so many clean checks in a row a node comes back that gpucheck has drained, and nobody else. 0: an administrator resumes it.
undrain_after=0
clean=/run/gpucheck-clean-checks

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

node=${SLURMD_NODENAME:-$(hostname -s)}
reason=$(gpucheck node --gres slurm --timeout 30 --exit-style slurm --drain-reason 2>&1) && fault=no || fault=$?
[ -z "$reason" ] || logger -t gpucheck -p daemon.err -- "$reason"
state=$(timeout 5 scontrol --oneliner show node "$node") || exit 0

if [ "$fault" = 1 ]; then
  rm -f "$clean"
  case $state in
    *DRAIN*' Reason=Prolog error'* | *DRAIN*' Reason=Epilog error'*) ;; # Slurm's own words name no cause
    *DRAIN*) exit 1 ;;                                                  # it keeps the reason that it was given
  esac
  timeout 5 scontrol update nodename="$node" state=drain reason="$reason"
  exit 1
fi

# No fault, and everything was looked at.
[ "$undrain_after" -gt 0 ] && [ "$fault" = no ] && [ -z "$reason" ] || exit 0
case $state in
  *DRAIN*' Reason=gpucheck '*) ;;
  *) rm -f "$clean"; exit 0 ;;
esac
count=$(($(cat "$clean" 2>/dev/null || echo 0) + 1))
echo "$count" >"$clean"
[ "$count" -lt "$undrain_after" ] || { rm -f "$clean"; timeout 5 scontrol update nodename="$node" state=resume; }
exit 0
