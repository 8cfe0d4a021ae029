#!/bin/sh
# Don't start a job on a node that has a fault. Run `gpucheck recipe systemd/gate.sh >/etc/gpucheck-gate.sh`, then add to the job's unit:
#   ExecStartPre=/bin/sh /etc/gpucheck-gate.sh
# Only the line "gpucheck CODE: ..." on standard output is a fault, because a broken Python also exits with 1. Without a verdict, the job
# starts, and the unit's journal says so.

# monitor: print the fault, and let the job start. enforce: do not start it.
mode=enforce
# Warnings that are faults too: '--strict', or '--strict --expect /etc/gpucheck/allowed_warnings.toml' to allow those in the file.
warnings=

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

# A second limit, because systemd fails a job whose start takes longer than TimeoutStartSec= (90 s).
# shellcheck disable=SC2086 # $warnings is several words
answer=$(timeout -k 1 40 gpucheck node $warnings --timeout 30 --drain-reason --report npd=/dev/fd/1)
code=$?
if [ "$code" = 2 ] && [ -n "$warnings" ]; then # a missing file of --expect must not hide a fault
  echo "warnings='$warnings' is wrong: the check runs without it"
  answer=$(timeout -k 1 40 gpucheck node --timeout 30 --drain-reason --report npd=/dev/fd/1)
  code=$?
fi
fault=$(printf '%s\n' "$answer" | sed -n '/^gpucheck [a-z0-9]*-[a-z0-9-]*: /{p;q;}')
case $code$answer in
  0PASS* | 0WARN*) exit 0 ;; # 0 alone is not enough: a truncated program also exits with 0
esac
if [ -z "$fault" ]; then
  echo "the job starts without a verdict: gpucheck ended with exit code $code"
  exit 0
fi
echo "$fault"
[ "$mode" != enforce ] || exit 1
echo "the job starts: mode=$mode"
