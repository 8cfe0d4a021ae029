#!/bin/sh
# Keep a job off a node that has a fault. Run `gpucheck recipe systemd/gate.sh >/etc/gpucheck-gate.sh`, then add to the job's unit:
#   ExecStartPre=/bin/sh /etc/gpucheck-gate.sh
# Only the line "gpucheck CODE: ..." on standard output is a fault: a broken Python also exits with 1.

# monitor: print the fault, and let the job start. enforce: do not start it.
mode=enforce
# Warnings that count: '--strict', without those that a file allows: '--strict --expect /etc/gpucheck/allowed_warnings.toml'
warnings=

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

# shellcheck disable=SC2086 # $warnings is several words
fault=$(gpucheck node $warnings --timeout 30 --drain-reason)
case $fault in
  "gpucheck "*": "*)
    echo "$fault"
    [ "$mode" != enforce ] || exit 1
    echo "the job starts: mode=$mode"
    ;;
esac
exit 0
