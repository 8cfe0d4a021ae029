"""TPUs: not there, busy, out of reach, or with a runtime that does not fit.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "tpu-not-found": (
        "ValueError: Please provide a TPU Name to connect to.",
        "KeyError: 'COLAB_TPU_ADDR'",
        "tensorflow.python.framework.errors_impl.NotFoundError: 'ConfigureDistributedTPU' is neither a type of a primitive operation nor a name of a function registered in binary running on n-1.",
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: No OpKernel was registered to support Op 'ConfigureDistributedTPU' used by {{node ConfigureDistributedTPU}}",
        "RuntimeError: Unable to initialize backend 'tpu': NOT_FOUND: No TPU Platform available. (set JAX_PLATFORMS='' to automatically choose an available backend)",
    ),
    "tpu-busy": (
        "RuntimeError: Unable to initialize backend 'tpu': ABORTED: The TPU is already in use by process with pid 39211. Not attempting to load libtpu.so in this process.",
        'Internal error when accessing libtpu multi-process lockfile. Run "$ sudo rm /tmp/libtpu_lockfile".',
        "E0000 RuntimeError: TPU initialization failed: open(/dev/accel0): Operation not permitted: Device or resource busy",
        "The TPU is already in use by process with pid 4242. Not attempting to load libtpu.so in this process.",
        "libtpu.so already in used by another process. Not attempting to load libtpu.so in this process.",
        "RuntimeError: Unable to initialize backend 'tpu': UNKNOWN: TPU initialization failed: Device or resource busy",
        "`RuntimeError: TPU initialization failed: ... Device or resource busy`",
    ),
    "tpu-unreachable": (
        "tensorflow.python.framework.errors_impl.UnavailableError: failed to connect to all addresses; last error: UNKNOWN: ipv4:10.2.3.4:8470: Failed to connect to remote host: Connection refused",
        "tensorflow.python.framework.errors_impl.DeadlineExceededError: failed to connect to all addresses (grpc://10.0.0.2:8470)",
        """
        UnavailableError: {{function_node __inference_train}} Socket closed
        Additional GRPC error information from remote target /job:worker/replica:0/task:0: ipv4:10.4.0.2:8470
        """,
        "E0808 tpu_hal.cc:249] Failed to initialize TPU system with error: FAILED_PRECONDITION: Couldn't mmap",
        "DeadlineExceededError: Deadline Exceeded while connecting to grpc://10.2.3.4:8470",
        "UnavailableError: Socket closed\nAdditional GRPC error information from remote target /job:worker/replica:0/task:0:\nipv4:10.9.8.7:8470",
        # gRPC does not say whom, and the program does
        """
        INFO:tensorflow:Initializing the TPU system: grpc://10.1.2.2:8470
        tensorflow.python.framework.errors_impl.UnavailableError: failed to connect to all addresses
        """,
        """
        INFO:tensorflow:Initializing the TPU system: node-1
        tensorflow.python.framework.errors_impl.UnavailableError: Socket closed
        """,
        """
        File "main.py", line 12, in <module>
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=args.tpu)
        tensorflow.python.framework.errors_impl.UnavailableError: failed to connect to all addresses
        Additional GRPC error information:
        {"created":"@1590000000.1","description":"Failed to pick subchannel","file":"client_channel.cc","file_line":3959,"referenced_errors":[{"created":"@1590000000.1","description":"failed to connect to all addresses","grpc_status":14}]}
        """,
        """
        I0706 19:08:27.570785 140690244269824 tf_logging.py:116] Init TPU system
        I0706 19:08:44.705890 140687278339840 tf_logging.py:116] Starting infeed thread controller.
        UnavailableError: Socket closed
        """,
        """
        tensorflow.python.framework.errors_impl.UnavailableError: Socket closed
        Error in atexit._run_exitfuncs:
        Traceback (most recent call last):
          File "/v/tensorflow/python/distribute/tpu_strategy.py", line 540, in async_wait
            context.async_wait()
        """,
        'W rpc/grpc_remote_master.cc:160] RPC failed with status = "Unavailable: Socket closed" and grpc_error_string = '
        '"{"description":"Error received from peer ipv4:10.1.2.3:8470","grpc_message":"Socket closed"}", maybe retrying the RPC',
        """
        UnavailableError: 2 root error(s) found.
        (0) Unavailable: Socket closed
        (1) Unavailable: Unable to find a context_id matching the specified one (123). Perhaps the worker was restarted
        0 successful operations.
        What happens to my free TPU?
        """,
        "UnavailableError: failed to connect to all addresses\n[[{{node x}}]] on /job:worker/replica:0/task:0/device:TPU:3",
    ),
    "tpu-runtime-missing": (
        "ModuleNotFoundError: No module named 'libtpu'",
        """
        Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory
        RuntimeError: Unable to initialize backend 'tpu'
        """,
    ),
    "tpu-version-mismatch": (
        "RuntimeError: Unexpected PJRT_Client_Create_Args size: expected 64, got 48. Check installed software versions.",
        "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: PJRT_Api version mismatch: framework PJRT API version 0.54 is older than plugin PJRT API version 0.67",
    ),
    "tpu-generation-unsupported": ("ValueError: TPU7x is not supported by TensorFlow 2.19",),
}

NO_ERROR = ("WARNING:root:TPU not requested; running on CPU",)
