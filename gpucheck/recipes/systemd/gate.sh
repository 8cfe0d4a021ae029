#!/bin/sh
# Keep a job off a node that has a fault. Run `gpucheck recipe systemd/gate.sh >/etc/gpucheck-gate.sh`, then add to the job's unit:
#   ExecStartPre=/bin/sh /etc/gpucheck-gate.sh
# Only the line "gpucheck CODE: ..." on standard output is a fault: a broken Python also exits with 1.

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

fault=$(gpucheck node --timeout 30 --drain-reason)
case $fault in
  "gpucheck "*": "*) echo "$fault"; exit 1 ;;
esac
exit 0
