"""TF_CONFIG, which describes the workers of a job, is invalid.

Symptom:
    json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes, below tfconfig_cluster_resolver.py
    ValueError: `task_type` 'chief' not found in cluster_spec.
    ValueError: The `task_id` 2 exceeds the maximum id of worker.
    Workers that wait for each other without end
Cause:
    The variable holds JSON: the same cluster on every worker, and a task that differs. Quotes that a shell swallowed, a task that
    the cluster does not have, or one address for two workers make TensorFlow reject it, or make the workers miss each other.
Fix:
    1. Check that it is valid JSON
       ? printf %s "$TF_CONFIG" | python3 -m json.tool
    2. Write it in single quotes, the same cluster on every worker and its own index on each; for the first of two
       $ export TF_CONFIG='{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}'
    3. If this machine trains alone, remove it
       $ unset TF_CONFIG
    4. Where the program builds the server itself: give tf.train.Server a job_name and a task_index (from 0 on) of its ClusterSpec
Verify:
    gpucheck --quick names it no more, on every worker.
Unless:
    Never, where it is set.
Example:
    cluster.configured = true
    cluster.problems = ["it is not valid JSON at character 2; JSON wants double quotes"]
    -> TF_CONFIG is set, but TensorFlow can't train with it: it is not valid JSON at character 2; JSON wants double quotes.
References:
    https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable
    https://www.tensorflow.org/api_docs/python/tf/distribute/cluster_resolver/TFConfigClusterResolver
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.cluster import Cluster

FIX = (
    Fix(text="Check that it is valid JSON", command='printf %s "$TF_CONFIG" | python3 -m json.tool', kind="look"),
    Fix(
        text="Write it in single quotes, the same cluster on every worker and its own index on each; for the first of two",
        command='export TF_CONFIG=\'{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}\'',
    ),
    Fix(text="If this machine trains alone, remove it", command="unset TF_CONFIG"),
)

SERVER = Fix(text="Give tf.train.Server a job_name and a task_index (from 0 on) that its ClusterSpec has")


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=("worker-unreachable", "training-failed"))
def check(cluster: Cluster | None, log_causes: LogCauses) -> Finding | Skip | None:
    """What the probe found wrong with the variable; else a log that complains of it."""
    if cluster is not None and cluster.problems:
        first, *others = cluster.problems
        more = f" (and {len(others)} more problem{'s' if len(others) > 1 else ''})" if others else ""
        return Finding(
            summary=f"TF_CONFIG is set, but TensorFlow can't train with it: {first}{more}.",
            evidence=saw(cluster, "problems"),
            fix=FIX,
        )
    cause = log_causes.named.get("tf-config-malformed")
    if cause is not None:
        return log_causes.finding(cause, (SERVER, *FIX) if cause.events[0].fields.get("source") == "server" else FIX)
    return Skip("neither TF_CONFIG nor a log was looked at") if cluster is None and log_causes.outcomes.log is None else None
