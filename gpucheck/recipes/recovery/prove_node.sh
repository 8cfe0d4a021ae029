#!/bin/sh
# Exit code 0 only if every GPU of this idle node has just worked without an error: run it before a node returns to service.
#   sh prove_node.sh slurm && scontrol update nodename="$(hostname -s)" state=resume
#   sh prove_node.sh kubernetes && kubectl uncordon "$NODE"
# The argument is where the number of GPUs comes from (gpucheck node --gres). The last line says why the node is not proved.

# A Python with TensorFlow trains on every GPU. Without TensorFlow, cuda_load.py uses the memory of every GPU for so many seconds.
python=/opt/tensorflow/bin/python3
load=/etc/gpucheck/cuda_load.py
seconds=60
# Warnings that count: '--strict', without those that a file allows: '--strict --expect /etc/gpucheck/allowed_warnings.toml'
warnings=--strict

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
unset CUDA_VISIBLE_DEVICES

# Exit code 0 is not enough: a program that was cut short also exits with 0. So that this script may be cut short, too, it prints nothing
# without a failure before its last line.
sound() {
  # shellcheck disable=SC2086 # $warnings is several words
  answer=$(timeout -k 5 60 gpucheck node ${1:+--gres "$1"} $warnings --timeout 30 --drain-reason --report npd=/dev/fd/1)
  code=$?
  case $code$answer in
    0PASS* | 0WARN*) return 0 ;;
    0*) echo "gpucheck ended without a report"; return 1 ;;
  esac
  printf '%s\n' "$answer" | grep '^gpucheck '
  return "$code"
}

sound "${1:-}" || exit
if "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("tensorflow") is None)' </dev/null 2>/dev/null; then
  # Each GPU trains alone, then all do.
  trained=$(timeout -k 10 660 gpucheck --python "$python" --strategy one_device --strategy mirrored --timeout 600 --format termination </dev/null)
  case $?$trained in
    0PASS* | 0WARN*) proof="every GPU has trained without an error" ;;
    *) echo "${trained:-gpucheck ended without a report}"; exit 1 ;;
  esac
else
  { proof=$(timeout -k 10 $((seconds + 600)) python3 "$load" "$seconds" </dev/null) && [ -n "$proof" ]; } || {
    echo "not proved without TensorFlow: ${proof:-$load ended without an answer}"
    exit 1
  }
fi
# Memory errors and Xid messages that the load has brought out.
sound "${1:-}" || exit
echo "$proof"
