"""TPUs: no TPU, a taken one, one that does not answer, and a libtpu that does not fit.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "uses-tpu": (
        ("INFO:tensorflow:Initializing the TPU system: grpc://10.1.2.2:8470", {}),
        ("    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='')", {}),
        ("Placed on /job:worker/replica:0/task:0/device:TPU:3", {}),
        ("I0706 19:08:27.570785 140690244269824 tf_logging.py:116] Init TPU system", {}),
        ("INFO:tensorflow:Starting outfeed thread controller.", {}),
        ('  File "/v/tensorflow/python/distribute/tpu_strategy.py", line 540, in async_wait', {}),
        ('  File "/v/tensorflow_estimator/python/estimator/tpu/tpu_estimator.py", line 2876, in train', {}),
        ("Error received from peer ipv4:10.1.2.3:8470", {}),
        ("It fails on a TPU v3-8 after an hour", {}),
        ("I train it with my TPU", {}),
    ),
    "tpu-failed": (
        ("I0000 tpu_initializer_helper.cc:116] libtpu.so is already in use by process with pid 42.", {"reason": "busy"}),
        (
            "NotFoundError: '__inference__tpu_init_fn_7' is neither a type of a primitive operation nor a name of a function "
            "registered in binary running on n-0123abcd-w-0.",
            {"reason": "version"},
        ),
        ("""cloud_tpu_init failed: AttributeError("module 'libtpu' has no attribute 'get_path'")""", {"reason": "version"}),
        ("<HttpError 404 when requesting https://tpu.googleapis.com/v1/projects/p/nodes/n returned", {"reason": "not-found"}),
        ('libtpu.so already in use by another process. Run "$ sudo lsof -w /dev/accel0"', {"reason": "busy"}),
        ("ABORTED: The TPU is already in use by another process", {"reason": "busy"}),
        ("Couldn't open device: Device or resource busy: /dev/accel0", {"reason": "busy"}),
        ("ValueError: Please provide a TPU Name to connect to.", {"reason": "not-found"}),
        ("KeyError: 'COLAB_TPU_ADDR'", {"reason": "not-found"}),
        ("Unexpected PJRT_Client_Create_Args size: expected 72, got 88.", {"reason": "version"}),
        ("F tpu_library_init_fns.inc:12] TpuOp_DoWork not available in this library.", {"reason": "version"}),
        ("E tpu_initializer.cc:9] Failed to open libtpu.so: cannot open", {"reason": "runtime-missing"}),
        (
            "A Google TPU may be present on this machine, but either a TPU-enabled jaxlib or libtpu is not installed.",
            {"reason": "runtime-missing"},
        ),
        (
            "UNAVAILABLE: failed to connect to all addresses; last error: ipv4:10.240.1.2:8470: Connection refused",
            {"reason": "unreachable"},
        ),
        (
            "The TPU worker may not be ready (still scheduling) or the address is incorrect: got (grpc://10.1.1.2:8470).",
            {"reason": "unreachable"},
        ),
        (
            '"description":"Error received from peer ipv4:10.1.2.3:8470","file_line":1056,"grpc_message":"Socket closed"',
            {"reason": "unreachable"},
        ),
        ("RuntimeError: TPU7x is not supported by this TensorFlow", {"reason": "generation"}),
    ),
}

NOT_MEANT = {
    "uses-tpu": (
        "from tensorflow.distribute.cluster_resolver import TPUClusterResolver",
        "TPU: none",
        "/device:XLA_TPU_JIT",
        "tpu vs gpu",
        "port 10.0.0.1:8470",
    ),
    "tpu-failed": (
        "INFO:jax._src.xla_bridge:Unable to initialize backend 'tpu': INVALID_ARGUMENT: TpuPlatform is not available.",
        "INFO:jax._src.xla_bridge:Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file",
        "I tpu_api_dlsym_initializer.cc:121] Libtpu path is: /venv/libtpu/libtpu.so",
        "WARNING:jax._src.xla_bridge:No GPU/TPU found, falling back to CPU.",
    ),
}
