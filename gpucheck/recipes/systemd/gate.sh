#!/bin/sh
# Keep a job from a node that has a fault: a line of the job's own unit, after `gpucheck recipe systemd/gate.sh >/etc/gpucheck-gate.sh`:
#   ExecStartPre=/bin/sh /etc/gpucheck-gate.sh
# A fault is the line "gpucheck CODE: ..." on standard output, and nothing else is one: a broken Python exits with 1, too.

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

fault=$(gpucheck node --timeout 30 --drain-reason)
case $fault in
  "gpucheck "*": "*) echo "$fault"; exit 1 ;;
esac
exit 0
