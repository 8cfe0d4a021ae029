"""TF_CONFIG, which describes the workers of a job, is invalid.

Symptom:
    File "tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py", line 46, in _load_tf_config
      json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)
    ValueError: `task_type` 'chief' not found in cluster_spec.
    ValueError: The `task_id` 2 exceeds the maximum id of worker.
    - Workers wait for each other forever
Cause:
    The variable contains JSON: the same cluster on every worker, and a different task on each. If a shell removed the quotes, the
    cluster lacks the task, or two workers have the same address, TensorFlow rejects it or the workers don't find each other.
Verify:
    gpucheck --quick no longer reports it on any worker.
Unless:
    Never, if it is set.
Example:
    cluster.configured = true
    cluster.problems = ["it is not valid JSON at character 2; JSON requires double quotes"]
    cluster.problem_kinds = ["json"]
    -> TF_CONFIG is set, but TensorFlow can't use it: it is not valid JSON at character 2; JSON requires double quotes.
References:
    https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable
    https://www.tensorflow.org/api_docs/python/tf/distribute/cluster_resolver/TFConfigClusterResolver
"""

import re

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.cluster import Cluster
from gpucheck.core.repairs.context import Context

_TEMPLATE = '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}'
_WITH_CHIEF = '{"cluster": {"chief": ["host1:2222"], "worker": ["host2:2222"]}, "task": {"type": "chief", "index": 0}}'
_CORRECTIONS = {
    "json": "Write it as JSON: double quotes inside, single quotes around it",
    "cluster": "Write the cluster as JSON: a list of addresses for each job",
    "duplicate-address": "Give every task its own address",
    "loopback": "Replace localhost with the name or address by which the other machines reach this one",
    "address": "Write every address as host:port",
    "count": "Keep only one chief and one evaluator",
    "chief": "Make one of the tasks the chief",
    "no-cluster": "Add the cluster to it",
    "task": "Add the task of this process to it",
    "index": "Number the tasks of each job from 0: the last of two workers has index 1",
    "job": "Use a type of task that the cluster lists: chief, worker, ps or evaluator",
}
# TensorFlow's messages -> the correction's key.
_MESSAGES = {
    r"(?i)not valid JSON|JSONDecodeError|pars": "json",
    r'one "chief"': "chief",
    r"type must be WORKER": "no-cluster",
    r"must be set": "task",
    r"(?i)task[_ ](?:id|index)": "index",
    r"(?i)task[_ ]type|not defined in cluster": "job",
    r"index": "index",
}


@rule(scope=Scope.ENVIRONMENT, explains=("worker-unreachable", "training-failed"))
def check(cluster: Cluster | None, log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report the variable's errors that the probe found, else a log that reports one."""
    if cluster is not None and cluster.problems:
        first, *others = cluster.problems
        more = f" (and {len(others)} more problem{'s' if len(others) > 1 else ''})" if others else ""
        return Finding(
            summary=f"TF_CONFIG is set, but TensorFlow can't use it: {first}{more}.",
            evidence=saw(cluster, "problems"),
            fix=repairs(context, kind=next(iter(cluster.problem_kinds), "")),
        )
    cause = log_causes.causes.get("tf-config-malformed")
    if cause is not None:
        return log_causes.repaired(cause, repairs, context)
    return Skip("neither TF_CONFIG nor a log was read") if cluster is None and log_causes.outcomes.log is None else None


def repairs(context: Context, *, source: str = "", message: str = "", kind: str = "") -> Fixes:
    """Correct the error.

    Args:
        context: what is known about the machine.
        source: "server" if the program itself passes the cluster to tf.train.Server.
        message: TensorFlow's message in a log.
        kind: the kind of the first problem that the probe found.
    """
    server = Fix(text="Give tf.train.Server a job_name and a task_index (from 0 on) that its ClusterSpec contains")
    if source == "server":
        yield server
        return
    kind = kind or next((key for pattern, key in _MESSAGES.items() if re.search(pattern, message)), "")
    yield Fix(
        text=f"{_CORRECTIONS.get(kind, 'Correct it')}. The cluster is the same on every worker, and each has its own index; for the"
        f" first of two: TF_CONFIG='{_WITH_CHIEF if kind == 'chief' else _TEMPLATE}'"
    )
    yield Fix(text="If this machine trains alone, remove it", command="unset TF_CONFIG")
    if not message and not kind:
        yield server.after("If the program creates the server itself:")
    yield Fix.look(
        "Print it as Python reads it", f"{context.python} -c \"import json, os; print(json.loads(os.environ['TF_CONFIG']))\""
    )
