"""Several GPUs and machines: NCCL, PyTorch, gRPC and MPI, replicas that are not alike, and what came right in the end.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "nccl-failed": (
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1275, internal error, NCCL version 2.14.3\nncclInternalError: Internal check failed.",
        "tensorflow.python.framework.errors_impl.InternalError: NCCL: unhandled cuda error. Set NCCL_DEBUG=WARN for detail. [Op:CollectiveReduceV2]",
        "[E ProcessGroupNCCL.cpp:821] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=52, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1801234 milliseconds before timing out.",
        "[0] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote peer 10.10.1.3<36138>\n[0] NCCL INFO init.cc:1402 -> 6",
        "net_ib.cc:17 NCCL WARN NET/IB : Got completion from peer 10.1.1.1<5592> with status=12 opcode=1 len=0 vendor err 129 (Send)",
        "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
        "RuntimeError: Some NCCL operations have failed or timed out.",
        "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
        "[2025-03-02 10:00:01] [rank5]: [E ProcessGroupNCCL.cpp:1301] NCCL watchdog timeout.",
        "[rank2]:[E0302 ProcessGroupNCCL.cpp:1316] [PG 0 Rank 2] Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=4",
        "[rank2]:[F0302 ProcessGroupNCCL.cpp:1337] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.",
        "gpu-1:88:90 [0] transport/net_ib.cc:700 NCCL WARN NET/IB : Remote IB device is incompatible with the local [1]mlx5_1:1/RoCE.",
        "NCCL WARN NET/IB : No device found",
        "NCCL WARN Message truncated : received 2048 bytes instead of 512",
        "NET/IB: Got completion from peer 10.3.0.7<51000> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0)",
        "[  98.7] pt_main_thread[4242]: segfault at 7f11aa000000 ip 00007f11bb000000 sp 00007f11cc000000 error 4 in libnccl.so.2[7f11bb000000+d3d3000]",
    ),
    "worker-unreachable": (
        "E tensorflow/core/common_runtime/base_collective_executor.cc:249] BaseCollectiveExecutor::StartAbort UNAVAILABLE: failed to connect to all addresses\nUnavailableError: Collective ops is aborted by: failed to connect to all addresses",
        # a program for any accelerator, on GPUs
        """
        tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
        Created device /job:worker/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: A, pci bus id: 0000:01:00.0, compute capability: 7.0
        UnavailableError: failed to connect to all addresses
        """,
        """
        from tensorflow.distribute.cluster_resolver import TFConfigClusterResolver, TPUClusterResolver
        Using MultiWorkerMirroredStrategy with TF_CONFIG
        UnavailableError: failed to connect to all addresses
        """,
        """
        UnavailableError: 2 root error(s) found.
        (0) Unavailable: Socket closed
        (1) Unavailable: Unable to find a context_id matching the specified one (123). Perhaps the worker was restarted
        """,
        "n:1:2 [0] include/socket.h:403 NCCL WARN Connect to fe80::a0:1ff:fe00:2%6<57335> failed : Network is unreachable",
        "RendezvousConnectionError: The connection to the C10d store has failed.",
        "RuntimeError: [gloo/transport/tcp/pair.cc:525] Read error [10.0.0.1]:34567: Connection reset by peer",
        "F client.h:80] Terminating process because the JAX distributed service detected fatal errors.",
        "torch.distributed.DistNetworkError: The client socket has timed out after 600s while trying to connect to (10.0.0.1, 29500).",
        "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect",
        "A process or daemon was unable to complete a TCP connection\nto another process:\n  Local host:    node-a\n  Remote host:   node-b",
        "ORTE has lost communication with a remote daemon.",
        "ssh: connect to host node-7 port 22: Connection timed out",
        "[W TCPStore.cpp:115] [c10d] recvValueWithTimeout failed on SocketImpl(fd=12, addr=[node-0]:41234, remote=[node-0]:29500): Connection reset by peer",
        "RuntimeError: makeDeviceForHostname(): unsupported gloo device",
        "Error: The client socket has failed to connect",
        "[W socket.cpp:601] [c10d] The client socket has failed to connect to [node-3.example.org]:29500 (errno: 110 - Connection timed out).",
        "tensorflow.python.framework.errors_impl.UnavailableError: Endpoint read failed",
    ),
    "replica-count-mismatch": (
        "NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 3b000\nncclInvalidUsage: This usually reflects invalid usage of NCCL library.",
        "MisconfigurationException: You requested GPUs: [0, 1]\n But your machine only has: [0]",
    ),
    "replicas-diverged": (
        "RuntimeError: DDP expects same model across all ranks, but Rank 0 has 12 params, while rank 1 has inconsistent 14 params.",
        "FloatingPointError: Fatal error: gradients are inconsistent between workers.",
    ),
    "tf-config-malformed": (
        'tensorflow.python.framework.errors_impl.InvalidArgumentError: Task 2 was not defined in job "worker"',
        """
        I grpc_channel.cc:215] Initialize GrpcChannelCache for job ps -> {0 -> localhost:2222}
        File "train.py", line 30, in <module>
        server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
        tensorflow.python.framework.errors_impl.InternalError: Job "evaluator" was not defined in cluster
        """,
        "json.decoder.JSONDecodeError: Expecting ',' delimiter\nFile tfconfig_cluster_resolver.py\nValueError: TF_CONFIG could not be parsed",
    ),
    "multi-worker-fit-unsupported": (
        """
        ValueError: Attempt to convert a value (PerReplica:{
        0: <tf.Tensor>}) with an unsupported type (<class 'tensorflow.python.distribute.values.PerReplica'>) to a Tensor.
        """,
        """
        INFO:tensorflow:MultiWorkerMirroredStrategy with cluster_spec = {'worker': ['a:1', 'b:1']}, task_type = 'worker', task_id = 0
          File "/v/lib/python3.12/site-packages/keras/src/backend/tensorflow/trainer.py", line 371, in fit
            logs = self.train_function(iterator)
          File "/v/lib/python3.12/site-packages/tensorflow/python/distribute/distribute_lib.py", line 293, in _require
            raise RuntimeError(error_message)
        RuntimeError: Method requires being in cross-replica context, use get_replica_context().merge_call()
        """,
    ),
    "peer-access-unavailable": ("RuntimeError: CUDA error: peer access is not supported between these two devices",),
}

WARNED = {
    "replica-count-mismatch": (
        """
        Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory) -> physical GPU (device: 0, name: A, pci bus id: 0000:01:00.0, compute capability: 7.0)
        Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:1 with 9000 MB memory) -> physical GPU (device: 1, name: A, pci bus id: 0000:02:00.0, compute capability: 7.0)
        Number of devices: 1
        """,
        "Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /job:localhost/device:GPU:1",
    ),
    "peer-access-unavailable": (
        "Training on two RTX 4090 hangs at the first all-reduce.\nNCCL_P2P_DISABLE=1 fixes it.",
        "node:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 - Init COMPLETE\nThen nothing more. It works with NCCL_P2P_DISABLE=1, but slowly.",
        "$ nvidia-smi topo -p2p r\n        GPU0    GPU1    GPU2\n GPU0   X       OK      CNS\n GPU1   OK      X       CNS",
    ),
}

NO_ERROR = (
    # on one machine it is a step of the program's own that reduces what replicas hold, or train_on_batch within run
    """
        INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0',)
          File "/v/lib/python3.12/site-packages/keras/src/backend/tensorflow/trainer.py", line 371, in fit
            logs = self.train_function(iterator)
          File "/v/lib/python3.12/site-packages/tensorflow/python/distribute/distribute_lib.py", line 293, in _require
            raise RuntimeError(error_message)
        RuntimeError: Method requires being in cross-replica context, use get_replica_context().merge_call()
        """,
    # the devices of a cluster's job, by another name
    "Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /job:chief/task:0/device:GPU:0",
    'return errors::InvalidArgument("Task ", index, " was not defined in job \\"", name, "\\"");',
    'Task "deploy" was not defined in jobs.yml',
    'error: job "build" was not defined in the pipeline',
    # NCCL did without, and says so
    """
        gpu-1:88:90 [0] transport/net_ib.cc:100 NCCL WARN NET/IB : Failed to open device mlx5_0
        gpu-1:88:90 [0] NCCL INFO Using network Socket
        gpu-1:88:90 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 - Init COMPLETE
        """,
    "algo-1:46:58 [0] configure_nvls_option:287 NCCL WARN NET/OFI Could not find ncclGetVersion symbol",
    "gpu-1:88:90 [0] transport/net_ib.cc:253 NCCL WARN NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)",
    "NET/IB: Got completion from peer 10.3.0.7<51000> with status=IBV_WC_SUCCESS(0)",
    # the workers came
    """
        I master.cc:221] CreateSession still waiting for response from worker: /job:worker/replica:0/task:1
        I master_session.cc:1004] Start master session 2fea0abc with config:
        """,
    # an address of the other family was tried first
    "[W socket.cpp:697] [c10d] The client socket has failed to connect to [localhost]:12355 (errno: 99 - Cannot assign requested address).",
    "[W420 socket.cpp:764] [c10d] The client socket has failed to connect to [DESK]:50175 (system error: 10049 - not valid in its context).",
    """
        [W socket.cpp:663] [c10d] The client socket has failed to connect to [localhost]:12345 (errno: 101 - Network is unreachable).
        [GPU1] Epoch 3 | Batchsize: 32 | Steps: 32
        """,
    "        GPU0    GPU1\n GPU0   X       OK\n GPU1   OK      X",
    "ssh: connect to host github.com port 22: Connection timed out",
    "INFO: parameters match across ranks; no weights differ between replicas",
    "INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0',)\nNumber of devices: 1",
)
