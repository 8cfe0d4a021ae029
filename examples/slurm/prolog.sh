#!/bin/sh
# Prolog of slurm.conf: keep a job off a node whose GPU hardware is broken.
# An exit code other than 0 drains the node and requeues the job, so only a fault of the hardware may give one: whatever the
# job's own environment lacks, the next node would lack too, and a whole cluster would drain.

bin=/opt/gpucheck/bin # where keras-gpucheck is installed on every node
scopes="hardware"     # whose faults count; "hardware host" also drains for the driver and what else an administrator repairs

# Slurm gives a Prolog no PATH. A pyproject.toml or variables of somebody else must not configure what root runs.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
unset CUDA_VISIBLE_DEVICES
cd / || exit 0

# Without GPUs in its allocation the job needs none, and this node may have none.
[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0

# Well below MessageTimeout (10 s). A check that can't finish is no fault of the hardware: HealthCheckProgram looks again.
report=$(timeout -k 1 8 "$bin/gpucheck" --quick --timeout 5 --format json </dev/null)

fault=$(printf '%s' "$report" | "$bin/python" -I -c '
import json, sys
for one in json.load(sys.stdin)["findings"]:
    root = one["explained_by"] is None and one.get("muted") is None
    if root and one["severity"] == "error" and one["scope"] in sys.argv[1].split():
        print(one["code"] + ": " + one["summary"])
        break
' "$scopes" 2>/dev/null) || echo "gpucheck: no report, so the job starts unchecked" >&2
[ -z "$fault" ] && exit 0
echo "gpucheck: $fault" >&2
exit 1
