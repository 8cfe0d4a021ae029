"""One of two workers that train together goes wrong, on a machine that has only its CPU: the other is fine, and must not be blamed.

The fault is a change of one function, made in the process of worker 1 alone; that process knows itself by its TF_CONFIG.
"""

from lab.bench import NOTHING, Fault
from lab.faults.training import trained

CRASHED, FAILED, SILENT, SKEW = "training-crashed", "training-failed", "worker-unreachable", "worker-version-skew"
STRATEGY = ("--strategy", "multi_worker_mirrored")
# The batches of each worker come from this class; a worker asks it for one before each step.
DATA = "tensorflow.python.distribute.input_lib"
IN_STEP_5 = """
import itertools, json, os, signal, time
task = json.loads(os.environ.get("TF_CONFIG", "{{}}")).get("task", {{}})
fetch, calls = module.DistributedIterator.__next__, itertools.count(1)
def fetch_or_fail(self):
    if task.get("index") == {who} and next(calls) == 5:
        {act}
    return fetch(self)
module.DistributedIterator.__next__ = fetch_or_fail
"""
# The class that finds the cluster, before anything is connected.
CONNECT = "tensorflow.python.distribute.cluster_resolver.tfconfig_cluster_resolver"
BEFORE_CONNECTING = """
import os, signal, time
first = module.TFConfigClusterResolver.cluster_spec
def resolve_or_fail(self):
    if self.task_id == 1:
        {act}
    return first(self)
module.TFConfigClusterResolver.cluster_spec = resolve_or_fail
"""
OTHER_VERSION = """
import json, os
if json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("index") == 1:
    module.__version__ = "2.19.1"
"""


def in_step_5(name: str, expected: str, act: str, who: int = 1, **more) -> Fault:
    return trained(f"worker-{name}-in-step-5", expected, DATA, IN_STEP_5.format(act=act, who=who), *STRATEGY, **more)


def before_connecting(name: str, expected: str, act: str, **more) -> Fault:
    return trained(f"worker-{name}-before-connecting", expected, CONNECT, BEFORE_CONNECTING.format(act=act), *STRATEGY, **more)


FAULTS = (
    in_step_5("killed", CRASHED, "os.kill(os.getpid(), signal.SIGKILL)", limit_seconds=90),
    in_step_5("0-killed", CRASHED, "os.kill(os.getpid(), signal.SIGKILL)", who=0, limit_seconds=90),
    in_step_5("raises", FAILED, "raise ValueError('no such sample')", limit_seconds=90),
    in_step_5("exits", CRASHED, "os._exit(3)", limit_seconds=90),
    in_step_5("ends-without-a-word", FAILED, "os._exit(0)", limit_seconds=90),
    in_step_5("stopped", SILENT, "os.kill(os.getpid(), signal.SIGSTOP)", limit_seconds=90),
    in_step_5("sleeps", SILENT, "time.sleep(600)", limit_seconds=90),
    before_connecting("killed", CRASHED, "os.kill(os.getpid(), signal.SIGKILL)", limit_seconds=90),
    before_connecting("sleeps", SILENT, "time.sleep(600)", limit_seconds=90),
    trained("worker-with-another-tensorflow", SKEW, "tensorflow", OTHER_VERSION, *STRATEGY),
    trained(
        "workers-gradients-of-each-its-own",
        "replicas-diverged",
        "tensorflow.python.distribute.distribute_lib",
        "module.ReplicaContext.all_reduce = lambda self, how, value, options=None: value",
        *STRATEGY,
    ),
    trained(
        "workers-fed-the-same-data",
        FAILED,
        "tensorflow.python.distribute.input_ops",
        "module.auto_shard_dataset = lambda dataset, *others, **options: dataset",
        *STRATEGY,
    ),
    trained(
        "pod-of-a-job-without-a-token",
        NOTHING,  # two workers on this machine would prove nothing about the other pods
        DATA,
        "pass",
        *STRATEGY,
        exit=3,
        verdict="unknown",
        env={"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "9", "JOB_COMPLETION_INDEX": "0"},
    ),
    trained("workers-that-are-well", NOTHING, DATA, "pass", *STRATEGY, exit=0),
)
