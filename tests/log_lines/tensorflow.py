"""TensorFlow's own account: devices found, created, ignored or hidden, and the diagnosis it prints after a failed cuInit.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "gpus-requested": (
        (
            "lightning.fabric.utilities.exceptions.MisconfigurationException: You requested gpu: [0, 1, 2]\n"
            " But your machine only has: [0]",
            {"asked": "3", "count": "1"},
        ),
        (
            "ValueError: To call `multi_gpu_model` with `gpus=4`, we expect the following devices to be available: ['/cpu:0', '/gpu:0'"
            ", '/gpu:1', '/gpu:2', '/gpu:3']. However this machine only has: ['/cpu:0', '/gpu:0', '/gpu:1']. Try reducing `gpus`.",
            {"asked": "4", "count": "2"},
        ),
    ),
    "container-host": (
        ("I cuda_diagnostics.cc:183] hostname: 3f2a8c61d90b", {"host": "3f2a8c61d90b"}),
        ("root@1c0ffee4beef:/workspace# python train.py", {"host": "1c0ffee4beef"}),
    ),
    "cpu-build": (
        ("An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed.", {}),
        ("AssertionError: Torch not compiled with CUDA enabled", {}),
        (">>> tf.test.is_built_with_cuda()\nFalse", {}),
    ),
    "cpu-fallback": (
        ("WARNING:jax._src.xla_bridge:No GPU/TPU found, falling back to CPU.", {"op": "all"}),
        ("Executing op MatMul in device /job:localhost/replica:0/task:0/device:CPU:0", {"op": "MatMul"}),
        ("conv2d/Conv2D: (Conv2D): /job:localhost/replica:0/task:0/device:CPU:0", {"op": "Conv2D"}),
    ),
    "cuda-drivers-not-found": (
        ("I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used.", {}),
        ("I0000 00:00:1795189508.517842    6458 cudart_stub.cc:31] Could not find cuda drivers on your machine", {}),
    ),
    "cuda-runtime-unavailable": (
        (
            "E cuda_executor.cc:1737] INTERNAL: CUDA Runtime error: Failed call to cudaGetRuntimeVersion: Error loading CUDA libraries.",
            {},
        ),
        ("Error loading CUDA libraries. GPU will not be used.", {}),
    ),
    "devices-hidden": (
        ('I0000 00:00:1.1 8 cuda_diagnostics.cc:160] env: CUDA_VISIBLE_DEVICES="7"', {"value": "7"}),
        ("I cuda_diagnostics.cc:163] CUDA_VISIBLE_DEVICES is set to -1 - this hides all GPUs from CUDA", {"value": "-1"}),
    ),
    "driver-versions-agree": (
        ("I cuda_diagnostics.cc:303] kernel version seems to match DSO: 396.64.0", {"version": "396.64.0"}),
        ("I0000 00:00:1.1 4 cuda_diagnostics.cc:284] kernel version seems to match DSO: 580.159.4", {"version": "580.159.4"}),
    ),
    "gpu-created": (
        (
            "I gpu_device.cc:1340] Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:1 with 7219 MB memory) -> "
            "physical GPU (device: 1, name: Tesla P4, pci bus id: 0000:00:05.0, compute capability: 6.1)",
            {"device": "GPU:1", "name": "Tesla P4", "capability": "6.1", "memory_mb": "7219"},
        ),
        (
            "I0000 00:00:1.1 2 gpu_device.cc:2043] Created device /job:worker/replica:0/task:1/device:GPU:0 with 136223 MB memory:  -> "
            "device: 0, name: NVIDIA H200, pci bus id: 0000:00:06.0, compute capability: 9.0a",
            {"device": "GPU:0", "capability": "9.0"},
        ),
    ),
    "gpu-found": (
        (
            "I gpu_device.cc:1433] Found device 0 with properties:\nname: GTX 1080 major: 6 minor: 1 memoryClockRate(GHz): 1.8",
            {"name": "GTX 1080"},
        ),
        (
            "Found device 1 with properties: \npciBusID: 0000:41:00.0 name: Tesla V100 computeCapability: 7.0",
            {"capability": "7.0"},
        ),
    ),
    "gpu-ignored": (
        (
            "Ignoring visible gpu device (device: 0, name: GeForce GT 710, pci bus id: 0000:01:00.0, compute capability: 3.5) with "
            "Cuda compute capability 3.5. The minimum required Cuda capability is 6.0.",
            {"reason": "capability", "capability": "3.5", "minimum": "6.0"},
        ),
        (
            "Ignoring visible gpu device (device: 1, name: Quadro P400, pci bus id: 0000:08:00.0, compute capability: 6.1) with core "
            "count: 2. The minimum required count is 8.",
            {"reason": "multiprocessors", "count": "2", "minimum": "8"},
        ),
        (
            "Found GPU0 Quadro K1000M which is of cuda capability 3.0.\n    PyTorch no longer supports this GPU because it is too old.\n"
            "    The minimum cuda capability supported by this library is 3.7.",
            {"reason": "capability", "minimum": "3.7"},
        ),
    ),
    "gpu-libraries-missing": (
        ("W gpu_device.cc:1592] Cannot dlopen some GPU libraries. Please make sure the missing libraries are installed", {}),
        ("Skipping registering GPU devices...", {}),
    ),
    "gpu-memory": (
        ("totalMemory: 10.92GiB freeMemory: 10.75GiB", {"total": "10.92GiB", "free": "10.75GiB"}),
        ("Total memory: 7.92GiB\nFree memory: 7.80GiB", {"free": "7.80GiB"}),
    ),
    "gpus-listed": (
        ("Num GPUs Available:  2", {"count": "2"}),
        ("Is GPU Available: []", {"count": "0"}),
        ("tf.config.list_physical_devices('GPU')  # []", {"count": "0"}),
        ("tf.config.list_physical_devices('GPU') # [] is returned", {"count": "0"}),
        ("print(tf.config.list_physical_devices('GPU')) #-> []", {"count": "0"}),
        ('gpus = tf.config.list_physical_devices("GPU")  # Output: []', {"count": "0"}),
        ("tf.config.list_physical_devices('GPU') # result show []", {"count": "0"}),
        ("GPU available: False", {"count": "0"}),
        ("[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]", {"count": "0"}),
        (
            "[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU'), PhysicalDevice(name='/physical_device:GPU:1', ...",
            {"count": "2"},
        ),
        ("I gpu_device.cc:1697] Adding visible gpu devices: 0, 1, 2", {"count": "3"}),
    ),
    "kernel-driver-absent": (
        (
            "I cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host (box): /proc/driver/nvidia/version "
            "does not exist",
            {"host": "box"},
        ),
        ("cat: /proc/driver/nvidia/version: No such file or directory", {}),
    ),
    "kernels-jit-compiled": (
        (
            "W gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA "
            "kernels will be jit-compiled from PTX, which could take 30 minutes or longer.",
            {"capability": "12.0"},
        ),
        ("TensorFlow was not built with CUDA kernel binaries compatible with compute capability 8.9.", {"capability": "8.9"}),
    ),
    "placement-failed": (
        (
            "Could not satisfy explicit device specification '/device:GPU:1' because no matching device",
            {"device": "/device:GPU:1"},
        ),
        ("Cannot assign a device for operation MatMul: Could not satisfy explicit device specification '' because the node", {}),
    ),
    "replicas": (
        ("Number of devices: 4", {"count": "4"}),
        ("num_replicas_in_sync: 8", {"count": "8"}),
    ),
    "strategy-device-invisible": (
        (
            "WARNING:tensorflow:Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /replica:0/device:GPU:1",
            {"devices": "GPU:1"},
        ),
        ("Some requested devices in tf.distribute.Strategy are not visible to TensorFlow: /job:localhost/device:GPU:3", {}),
        (
            "Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: "
            "/job:localhost/replica:0/task:0/device:GPU:10,/job:localhost/replica:0/task:0/device:GPU:2",
            {"devices": "GPU:2,GPU:10"},
        ),
    ),
    "strategy-devices": (
        (
            "INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0', '/device:GPU:1')",
            {"count": "2"},
        ),
        ("Using MultiWorkerMirroredStrategy with devices ('/job:worker/task:0/device:CPU:0',)", {"devices": "CPU"}),
    ),
    "cuda-diagnostics": (
        ("I cuda_diagnostics.cc:169] retrieving CUDA diagnostic information for host: DESKTOP-WIN10", {}),
        ("I0000 00:00:1.1 4 cuda_diagnostics.cc:176] retrieving CUDA diagnostic information for host: gpu-host", {}),
    ),
}

NOT_MEANT = {
    "container-host": ("hostname: gpu-host", "root@workstation:~#", "hostname: deadbeefcafe1"),
    "cpu-build": (
        ">>> tf.test.is_built_with_cuda()\nTrue",
        "This TensorFlow binary is optimized to use available CPU instructions",
    ),
    "cpu-fallback": (
        "Executing op RangeDataset in device /job:localhost/replica:0/task:0/device:CPU:0",
        "Executing op MatMul in device /job:localhost/replica:0/task:0/device:GPU:0",
    ),
    "cuda-drivers-not-found": ("Found cuda drivers on your machine",),
    "cuda-runtime-unavailable": ("Loading CUDA libraries",),
    "devices-hidden": ("export CUDA_VISIBLE_DEVICES=0",),
    "driver-versions-agree": ("kernel version 1 does not match DSO version 2",),
    "gpu-created": ("Created device /job:localhost/replica:0/task:0/device:CPU:0 with 99 MB memory",),
    "gpu-found": ("Found device tree",),
    "gpu-ignored": ("Adding visible gpu devices: 0",),
    "gpu-libraries-missing": ("dlopened all GPU libraries",),
    "gpu-memory": ("Memory: 10.92GiB",),
    "gpus-listed": (
        "Num CPUs Available:  2",
        "Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /job:localhost/device:GPU:1",
        "Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /job:chief/task:0/device:GPU:0",
        "tf.config.list_physical_devices('GPU')  # [] if there is no GPU",
        "tf.config.list_physical_devices('GPU')  # should not be []",
        "gpus = tf.config.list_physical_devices('GPU') or []",
        "tf.config.list_physical_devices('GPU')  # [0] is the first",
        "tf.config.list_physical_devices('GPU')  # [] on a machine without one",
    ),
    "kernel-driver-absent": ("kernel driver 580.159.4 is running on this host",),
    "kernels-jit-compiled": ("TensorFlow was built with CUDA kernel binaries compatible with compute capability 9.0",),
    "gpus-requested": ("You requested gpu: [0]\n But your machine only has: []", "You requested gpu: [0, 1]"),
    "placement-failed": ("device specification '/device:GPU:1' satisfied",),
    "replicas": ("The number of classes: 4",),
    "strategy-device-invisible": (
        "All devices are visible to TensorFlow",
        "Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /job:chief/task:0/device:GPU:0",
    ),
    "strategy-devices": ("Using default strategy",),
    "cuda-diagnostics": ("I cuda_diagnostics.cc:183] hostname: gpu-host",),
}
