"""Parameter server: a server holds the variables, and workers update them asynchronously.

Trained only with ``--strategy parameter_server``, on a cluster in one process: a coordinator, two workers and a parameter server,
connected over loopback ports, on the CPU. This tests the mechanism, not the machines of a real cluster.
"""

from __future__ import annotations

from typing import Any

from gpucheck.core.training.strategies import Strategy

_servers: list[Any] = []  # kept until the process ends


def build(tf: Any, devices: tuple[str, ...], cross_device: str | None) -> Any:
    """Build the coordinator's strategy, and start the workers and the server of TF_CONFIG in this process."""
    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec()
    config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
    config.inter_op_parallelism_threads = 4  # servers of one process that share fewer threads can deadlock
    for job in cluster.jobs:
        for index in cluster.task_indices(job):
            _servers.append(tf.distribute.Server(cluster, job_name=job, task_index=index, config=config, protocol="grpc"))
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
    return tf.distribute.ParameterServerStrategy(resolver)


STRATEGY = Strategy(  # no jobs in the main training process, which would become part of the cluster
    level=3,
    build=build,
    not_in_bench="gpucheck bench measures one process; `gpucheck --strategy parameter_server` trains with several",
)
