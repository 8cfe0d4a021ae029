#!/bin/sh
# HealthCheckProgram of slurm.conf: drain a node whose GPU hardware is broken.
# Slurm only logs the exit code, so this script drains the node itself; it never resumes one. Root runs it every
# HealthCheckInterval, also beside jobs, and kills it after 60 s.

bin=/opt/gpucheck/bin # where keras-gpucheck is installed on every node
scopes="hardware"     # whose faults count; "hardware host" also drains for the driver and what else an administrator repairs

# With the folder of scontrol. A pyproject.toml or variables of somebody else must not configure what root runs.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin
export PATH
unset CUDA_VISIBLE_DEVICES
cd / || exit 0
node=${SLURMD_NODENAME:-$(hostname -s)}

# "No GPU" is a fault only on a node that shall have one, which slurm.conf knows: Gres=gpu:8. Where Slurm does not answer,
# nobody knows, and nothing is drained. A node that is drained already keeps the reason it was given.
gpus=no
set -f
for word in $(timeout -k 1 5 scontrol --oneliner show node "$node"); do
  case $word in
    Gres=gpu* | Gres=*,gpu*) gpus=yes ;;
    State=*DRAIN*) exit 0 ;;
  esac
done
[ "$gpus" = yes ] || exit 0

# How many and which GPUs it shall have, where somebody wrote it down: gpucheck snapshot /etc/gpucheck/expected.toml
expected=/etc/gpucheck/expected.toml
set --
[ -r "$expected" ] && set -- --expect "$expected"
report=$(timeout -k 1 35 "$bin/gpucheck" --quick --timeout 30 --format json "$@" </dev/null)

fault=$(printf '%s' "$report" | "$bin/python" -I -c '
import json, sys
for one in json.load(sys.stdin)["findings"]:
    root = one["explained_by"] is None and one.get("muted") is None
    if root and one["severity"] == "error" and one["scope"] in sys.argv[1].split():
        print(one["code"] + ": " + one["summary"])
        break
' "$scopes" 2>/dev/null) || {
  echo "gpucheck: no report; $node is left as it is" >&2
  exit 1
}
[ -z "$fault" ] && exit 0
echo "gpucheck: draining $node: $fault" >&2
timeout -k 1 10 scontrol update nodename="$node" state=drain reason="gpucheck: $fault"
exit 1
