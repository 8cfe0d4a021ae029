"""Several workers: TF_CONFIG, the network between them, and versions that differ.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "session-started": (
        ("I tensorflow/core/distributed_runtime/master_session.cc:998] Start master session 8c1f0e2d7b5a with config:", {}),
        ("I] Start master session 11aa22bb33cc with config: allow_soft_placement: true", {}),
    ),
    "multi-worker-fit-unsupported": (
        ("}) with an unsupported type (<class 'tensorflow.python.distribute.values.PerReplica'>) to a Tensor.", {}),
        ("ValueError: Attempt to convert a value (PerReplica:{", {}),
        (
            '  File "/v/lib/python3.12/site-packages/keras/src/backend/tensorflow/trainer.py", line 371, in fit\n'
            "    logs = self.train_function(iterator)\n"
            '  File "/v/lib/python3.12/site-packages/tensorflow/python/distribute/distribute_lib.py", line 293, in _require_cross\n'
            "    raise RuntimeError(error_message)\n"
            "RuntimeError: Method requires being in cross-replica context, use get_replica_context().merge_call()",
            {"needs": "cluster"},
        ),
        (
            '    File "/v/keras/src/backend/tensorflow/trainer.py", line 133, in multi_step_on_iterator  *\n'
            "        outputs = self.distribute_strategy.run(one_step_on_data, args=(data,))\n"
            "    RuntimeError: Method requires being in cross-replica context, use get_replica_context().merge_call()",
            {"needs": "cluster"},
        ),
    ),
    "tf-config-malformed": (
        ("ValueError: worker is not a valid task_type in the cluster_spec:", {}),
        ("KeyError: TF_CONFIG environment variable is not valid JSON", {}),
        (
            '  File "/v/tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py", line 45, in _load_tf_config\n'
            '    return json.loads(os.environ.get(_TF_CONFIG_ENV, "{}"))\n  File "json/decoder.py", line 355, in raw_decode\n'
            "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
            {},
        ),
        ('ValueError: If "cluster" is not set in TF_CONFIG, task type must be WORKER.', {}),
        ('ValueError: If "cluster" is set in TF_CONFIG, task index must be set.', {}),
        ("ValueError: If \"service\" is set in TF_CONFIG, it must be a dict. Given <class 'str'>", {}),
        ('ValueError: 3 is not a valid task_id for task_type "worker" in the cluster_spec:', {}),
        ('InvalidArgumentError: Task 2 was not defined in job "worker"', {"source": "server"}),
        ('InternalError: Job "evaluator" was not defined in cluster', {"message": 'Job "evaluator" was not defined in cluster'}),
    ),
    "worker-address-in-use": (
        ("E grpc_server_lib.cc:525] ERROR: Address already in use: [::]:2222", {}),
        ("UnknownError: Could not start gRPC server", {}),
        ("E grpc_server_lib.cc:613] UNKNOWN: Could not start gRPC server", {}),
    ),
    "worker-unreachable": (
        ("UnavailableError: Graph execution error: Collective ops is aborted by: Socket closed", {}),
        (
            "Check health of peer /job:worker/replica:0/task:1 failed: UNAVAILABLE: Connection reset by peer",
            {"address": "/job:worker/replica:0/task:1"},
        ),
        (
            "CreateSession still waiting for response from worker: /job:ps/replica:0/task:0",
            {"address": "/job:ps/replica:0/task:0"},
        ),
        (
            "UNAVAILABLE: failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.7:2222: Connection refused",
            {"address": "10.0.0.7:2222"},
        ),
        ("/job:worker/replica:0/task:1 unexpectedly disconnected", {"address": "/job:worker/replica:0/task:1"}),
        (
            "The client socket has timed out after 60s while trying to connect to (node-0, 29500). Connection to node-0:29500 failed",
            {},
        ),
        ("socketStartConnect: Connect to 10.0.0.5<33092> failed : No route to host", {}),
        (
            "socket.h:403 NCCL WARN Connect to fe80::a0:1ff:fe00:2%6<57335> failed : Network is unreachable",
            {"address": "fe80::a0:1ff:fe00:2%6<57335"},
        ),
        ("  (0) Unavailable: Socket closed", {}),
        (
            "Additional GRPC error information from remote target /job:worker/replica:0/task:0:",
            {"address": "/job:worker/replica:0/task:0"},
        ),
    ),
    "cluster-named": (
        ("I grpc_channel.cc:215] Initialize GrpcChannelCache for job worker -> {0 -> localhost:2222}", {}),
        ("$ python train.py --ps_hosts=10.0.0.1:2222 --job_name=worker --task_index=0", {}),
        ("INFO:tensorflow:Single-worker MultiWorkerMirroredStrategy with local_devices = ('/device:CPU:0',)", {}),
        ('  File "/v/tensorflow/python/distribute/collective_all_reduce_strategy.py", line 401, in _initialize_local', {}),
    ),
}

NOT_MEANT = {
    "multi-worker-fit-unsupported": (
        "PerReplica values: 2",
        "RuntimeError: Method requires being in cross-replica context, use get_replica_context().merge_call()",
    ),
    "session-started": ("Started server with target: grpc://localhost:2222",),
    "tf-config-malformed": (
        "INFO:tensorflow:TF_CONFIG environment variable: {'cluster': {'worker': ['a:1']}, 'task': {'type': 'worker', 'index': 0}}",
        "TF_CONFIG must be set on every worker before the program starts",
    ),
    "worker-address-in-use": ("Started server with target: grpc://127.0.0.1:23452",),
    "worker-unreachable": (
        "Coordination agent has successfully connected.",
        "failed to connect to all addresses; last error: ipv4:10.240.1.2:8470: Connection refused",
        'W rpc/grpc_remote_master.cc:160] RPC failed with status = "Unavailable: Socket closed" and grpc_error_string = '
        '"{"description":"Error received from peer ipv4:10.1.2.3:8470","grpc_message":"Socket closed"}", maybe retrying the RPC',
    ),
    "cluster-named": ("a cluster of points", "the job failed"),
}
