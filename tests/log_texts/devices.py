"""GPUs that are not offered: hidden, refused, without their files, kept by a mode, or none there.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

from log_texts._cuda_start import ABSENT, AGREE, DIAGNOSTICS, DRIVER, NO_DEVICE

NAMED = {
    "no-nvidia-gpu": (
        "$ nvidia-smi\nNo devices were found",
        "kernel: NVRM: No NVIDIA GPU found.",
    ),
    "gpus-not-listed": (
        "InvalidArgumentError: Cannot assign a device for operation MatMul: {{node MatMul}}was explicitly assigned to /device:GPU:0 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ].",
        """
        | NVIDIA-SMI 560.35.03    Driver Version: 560.35.03    CUDA Version: 12.6 |
        Num GPUs Available:  0
        """,
        """
        |   0  NVIDIA GeForce RTX 3060 ...  Off |
        | NVIDIA-SMI 525.85.12    Driver Version: 525.85.12    CUDA Version: 12.0     |
        >>> tf.config.list_physical_devices('GPU')
        []
        """,
    ),
    "devices-hidden": (
        f'MIG 1g.5gb Device 0: (UUID: MIG-1c22a4c2-30a5-5e3d-9e80-d0c2b7ba1db0)\n{NO_DEVICE}\n{DIAGNOSTICS}160] env: CUDA_VISIBLE_DEVICES="7"\n{AGREE}',
        f"|                               |                      |             Disabled |\n{NO_DEVICE}\n{AGREE}",
        f"{NO_DEVICE}\n{DIAGNOSTICS}190] libcuda reported version is: 580.95.5\n{AGREE}",
        f'{NO_DEVICE}\n{DIAGNOSTICS}160] env: CUDA_VISIBLE_DEVICES="7"\n{AGREE}',
        "RuntimeError: No CUDA GPUs are available",
        "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: No visible GPU devices.",
        "RuntimeError: CUDA error: invalid device ordinal\nCUDA kernel errors might be asynchronously reported",
        f"""
        slurm: CUDA_VISIBLE_DEVICES=NoDevFiles
        {NO_DEVICE}
        RuntimeError: a GPU is needed
        """,
    ),
    "device-nodes-missing": (
        f"ls: cannot access '/dev/nvidia-uvm': No such file or directory\n{DRIVER} CUDA_ERROR_UNKNOWN: unknown error\n{AGREE}",
        'docker: Error response from daemon: error gathering device information while adding custom device "/dev/nvidia-uvm": no such file or directory.',
        "Jul  8 15:11:23 gpu slurmd[5421]: fatal: can't stat gres.conf file /dev//nvidia0: No such file or directory",
    ),
    "device-permission-denied": (
        "Failed to initialize NVML: Insufficient Permissions",
        "root@host:/# nvidia-smi\nFailed to initialize NVML: Unknown Error",
        f'open("/dev/nvidiactl"): Permission denied\n{NO_DEVICE}',
        "cat: /dev/nvidia0: Operation not permitted\nRuntimeError: No CUDA GPUs are available",
    ),
    "compute-mode-exclusive": (
        "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable",
        "InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: all CUDA-capable devices are busy or unavailable",
        "Compute Mode : Exclusive_Process\nE cuda_driver.cc:1] failed call to cuCtxCreate: CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable",
        "gpu4:771:802 [0] NCCL WARN Cuda failure 'all CUDA-capable devices are busy or unavailable'",
    ),
    "mig-misconfigured": (
        # a GPU that is cut up, and a program without any of its parts
        f"""
        GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5a5b6b1c-3fb6-2c41-bd25-0c5d8b4a0f3e)
          MIG 3g.20gb     Device  0: (UUID: MIG-1c22a4c2-30a5-5e3d-9e80-d0c2b7ba1db0)
        {NO_DEVICE}
        {AGREE}
        """,
        f"""
        |   0  NVIDIA A100-SXM...  On   | 00000000:07:00.0 Off |                   On |
        | N/A   31C    P0    43W / 400W |     45MiB / 40536MiB |     N/A      Default |
        |                               |                      |              Enabled |
        {NO_DEVICE}
        {AGREE}
        """,
        "No MIG-supported devices found.",
        "Unable to create a GPU instance on GPU  0 using profile 19: Insufficient Resources",
        "E0101 main.go:115] error starting plugins: error creating resources: invalid MIG strategy: At least one device with migEnabled=true was not configured correctly",
        "$ nvidia-smi mig -lgi\nNo MIG-enabled devices found.",
        "Unable to enable MIG Mode for GPU 00000000:3B:00.0: Not Supported",
    ),
    "fabric-manager-down": (
        "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)",
        "E0000 00:00:1760000000.1 31 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized",
        'cudaErrorSystemNotReady (error 802) due to "system not yet initialized" on CUDA API call to cudaMalloc',
        "systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\ncuInit failed: CUDA_ERROR_SYSTEM_NOT_READY",
        'level=INFO source=gpu.go:612 msg="Unable to load cudart library /usr/lib/libcuda.so.570: cuda driver library init failure: 802"',
        "    Fabric\n        State                             : In Progress\n        Status                            : N/A",
    ),
}

WARNED = {
    "no-nvidia-gpu": (
        f"{DRIVER} UNKNOWN ERROR (303)\n{ABSENT} (laptop): /proc/driver/nvidia/version does not exist\nEpoch 2/5\n",
        """
        2020-12-01 09:00:00.1: W tensorflow/stream_executor/platform/default/dso_loader.cc:60] Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory
        2020-12-01 09:00:00.2: W tensorflow/stream_executor/cuda/cuda_driver.cc:326] failed call to cuInit: UNKNOWN ERROR (303)
        2020-12-01 09:00:00.3: I tensorflow/stream_executor/cuda/cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host (build-7): /proc/driver/nvidia/version does not exist
        """,
    ),
    "gpus-not-listed": (
        "Num GPUs Available:  0",
        """
        WARNING:tensorflow:Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /job:localhost/replica:0/task:0/device:GPU:1,/job:localhost/replica:0/task:0/device:GPU:0
        INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0', '/job:localhost/replica:0/task:0/device:GPU:1')
        """,
    ),
    "devices-hidden": (
        f'{NO_DEVICE}\n{DIAGNOSTICS}160] env: CUDA_VISIBLE_DEVICES="-1"\n{AGREE}\nEpoch 3/10',
        f'{NO_DEVICE}\n{DIAGNOSTICS}160] env: CUDA_VISIBLE_DEVICES=""\n{AGREE}',
    ),
}

NO_ERROR = (
    "    Fabric\n        State                             : Completed\n        Status                            : Success",
    "Ticket 4711\nState : In Progress\nStatus : open",
)

QUIET = (
    "MIG 1g.5gb Device 0: (UUID: MIG-1c22a4c2-30a5-5e3d-9e80-d0c2b7ba1db0)",
    "|                               |                      |              Enabled |",
    # modes and variables alone
    "Compute Mode                          : Exclusive_Process",
    "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:19:00.0 Off |                    0 |\n| N/A   31C    P0   72W / 700W |  1MiB / 81559MiB |      0%      E. Process |\n|                               |                      |             Disabled |",
    "+ export CUDA_VISIBLE_DEVICES=-1\nCollecting tensorflow\nSuccessfully installed tensorflow-2.17.0",
    "NVIDIA_VISIBLE_DEVICES=void",
    # services at work, devices as they should be
    "Unable to set persistence mode for GPU 00000000:01:00.0: Insufficient Permissions",
    "systemd[1]: Started nvidia-fabricmanager.service - NVIDIA fabric manager service.\nFabric : State : Completed",
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-x)\n  MIG 3g.20gb     Device  0: (UUID: MIG-y)",
    "crw-rw-rw- 1 root root 195,   0 Mar  3 09:00 /dev/nvidia0\ncrw-rw-rw- 1 root root 195, 255 Mar  3 09:00 /dev/nvidiactl",
)
