"""Two runs of gpucheck with the real TensorFlow, each in a pod of the same Job with its own network and service account folder.

As a real one, a pod consists of namespaces: TensorFlow listens on every address of its machine, so that two workers with the
same port need two networks. Needs root, or unprivileged user namespaces.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import fake_kubernetes
import pytest
from leftovers import VARIABLE, leftovers_after

CHECKOUT = pathlib.Path(__file__).parents[2]
UNSHARE = [
    "unshare",
    *(() if hasattr(os, "geteuid") and os.geteuid() == 0 else ("--user", "--map-root-user")),
    "--net",
    "--mount",
]
ADDRESS, PORT = "10.66.0.{}", "6443"
# $1: a folder with pod0 and pod1, the folders of their service accounts. The rest: the command to run in each.
SCRIPT = f"""
set -e
folder=$1; shift
ip link set lo up
unshare --net sleep 300 & other=$!
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
ip link add name pod0 type veth peer name pod1 netns $other
ip addr add {ADDRESS.format(10)}/24 dev pod0
ip link set pod0 up
nsenter --net=/proc/$other/ns/net sh -c 'ip link set lo up; ip addr add {ADDRESS.format(11)}/24 dev pod1; ip link set pod1 up'
mount -t tmpfs pods /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount
"$0" "$FAKE" "$folder" {PORT} "$folder/state.json" & server=$!
enter='mount --bind "$0" /var/run/secrets/kubernetes.io/serviceaccount; exec "$@"'
JOB_COMPLETION_INDEX=1 HOSTNAME=train-1 nsenter --net=/proc/$other/ns/net unshare --mount \\
    sh -c "$enter" "$folder/pod1" "$@" > "$folder/pod1.json" & second=$!
code=0
JOB_COMPLETION_INDEX=0 HOSTNAME=train-0 unshare --mount sh -c "$enter" "$folder/pod0" "$@" > "$folder/pod0.json" || code=$?
wait $second || code=$?
kill $server $other
exit $code
"""


def refusal():
    """Why no pods can be created here, or None."""
    missing = [program for program in ("unshare", "nsenter", "ip", "openssl") if shutil.which(program) is None]
    if missing:
        return f"no {missing[0]} command"
    trial = 'ip link add name pod0 type veth peer name pod1 && mount -t tmpfs pods /run && [ "$(readlink -f /var/run)" = /run ]'
    done = subprocess.run([*UNSHARE, "sh", "-c", trial], capture_output=True, text=True, timeout=10)
    return f"no pod can be created: {done.stderr.strip()}" if done.returncode else None


@pytest.mark.tensorflow
@pytest.mark.skipif(sys.platform != "linux", reason="pods need namespaces of Linux")
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@pytest.mark.slow
def test_pods_of_a_job_train_together(tmp_path):
    if why := refusal():
        pytest.skip(why)
    fake_kubernetes.certificate(tmp_path, ADDRESS.format(10))
    pods = fake_kubernetes.job_pods(2, ADDRESS)
    for place, pod in enumerate(pods):
        fake_kubernetes.account(tmp_path / f"pod{place}", tmp_path / "ca.crt", pod["metadata"]["name"])
    made = {f"{fake_kubernetes.JOBS}train": {"spec": {"parallelism": 2, "completions": 2}}}
    (tmp_path / "state.json").write_text(json.dumps({"pods": pods, "made": made}))
    gpucheck = [sys.executable, "-m", "gpucheck", "--strategy", "multi_worker_mirrored", "--allow-cpu", "--timeout", "150"]
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "PYTHONPATH": str(CHECKOUT), "FAKE": fake_kubernetes.__file__}
    env |= {"KUBERNETES_SERVICE_HOST": ADDRESS.format(10), "KUBERNETES_SERVICE_PORT": PORT, VARIABLE: str(tmp_path)}
    for name in ("TF_CONFIG", "SLURM_JOB_ID"):
        env.pop(name, None)
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", SCRIPT, sys.executable, str(tmp_path), *gpucheck, "--format", "json"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
    )
    reports = [json.loads((tmp_path / f"pod{place}.json").read_text()) for place in (0, 1)]
    assert done.returncode == 0, done.stderr
    for report in reports:
        (run,) = report["facts"]["training"]["runs"]
        assert (run["status"], run.get("reason"), run["cluster"], run["workers"]) == ("passed", None, "Kubernetes", 2)
        assert run["worker_names"] == ["worker 0", "worker 1"]
        assert run["devices"] == ["CPU:0", "CPU:0"]
        assert len(run["worker_versions"]) == 2
        assert run["shards_verified"] is True
        assert run["replicas_equal"] is True
    assert leftovers_after(str(tmp_path), 2.0) == []
