#!/bin/sh
# Test every GPU of this idle node under load, before the node returns to service. Exit code 0 only if all worked without an error.
#   sh prove_node.sh slurm && scontrol update nodename="$(hostname -s)" state=resume
#   sh prove_node.sh kubernetes && kubectl uncordon "$NODE"
# The argument is the source of the expected number of GPUs (gpucheck node --gres). The last line is the reason if the test fails.

# A Python with TensorFlow trains on every GPU. Without TensorFlow, cuda_load.py tests the memory of every GPU for this many seconds.
python=/opt/tensorflow/bin/python3
load=/etc/gpucheck/cuda_load.py
seconds=60
# Warnings that are faults too: '--strict', or '--strict --expect /etc/gpucheck/allowed_warnings.toml' to allow those in the file.
warnings=--strict

PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
unset CUDA_VISIBLE_DEVICES

# Exit code 0 is not enough, because a truncated program also exits with 0. This script may be truncated too, so on success it prints
# nothing before its last line.
healthy() {
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

healthy "${1:-}" || exit
if "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("tensorflow") is None)' </dev/null 2>/dev/null; then
  # Each GPU trains alone, then all train together.
  trained=$(timeout -k 10 660 gpucheck --python "$python" --strategy one_device --strategy mirrored --timeout 600 --format termination </dev/null)
  case $?$trained in
    0PASS* | 0WARN*) proof="every GPU has trained without an error" ;;
    *) echo "${trained:-gpucheck ended without a report}"; exit 1 ;;
  esac
else
  { proof=$(timeout -k 10 $((seconds + 600)) python3 "$load" "$seconds" </dev/null) && [ -n "$proof" ]; } || {
    echo "not verified (no TensorFlow): ${proof:-$load ended without an answer}"
    exit 1
  }
fi
# Report memory errors and Xid messages that the load caused.
healthy "${1:-}" || exit
echo "$proof"
