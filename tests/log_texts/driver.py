"""The driver: which half of it is missing, old, hidden or of another version.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

from log_texts._cuda_start import ABSENT, DIAGNOSTICS, DRIVER, OPENED

NAMED = {
    "driver-missing": (
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver",
        "01:00.0 VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)\nbash: nvidia-smi: command not found",
        "pynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found",
        "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
        """
        In [2]: !nvidia-smi
        /bin/bash: line 1: nvidia-smi: command not found
        I0000 00:00:1750000000.1 99 cudart_stub.cc:32] Could not find cuda drivers on your machine, GPU will not be used.
        E0000 00:00:1750000000.2 99 cuda_platform.cc:51] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)
        """,
        "cudaGetDeviceCount returned 35\n-> CUDA driver version is insufficient for CUDA runtime version\n$ nvidia-smi\nbash: nvidia-smi: command not found",
    ),
    "driver-not-loaded": (
        """
        $ nvidia-smi
        NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest
        NVIDIA driver is installed and running.
        """,
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.14.0-33-generic",
        """
        [    6.101277] NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b80)
        [    6.101277] NVRM: installed in this system is not supported by the
        [    6.101277] NVRM: NVIDIA 590.44.01 driver release.
        """,
        """
        Mar 02 08:11:09 node7 kernel: NVRM: GPU 0000:af:00.0 is not supported by open nvidia.ko because it does not include the
        Mar 02 08:11:09 node7 kernel: NVRM: required GPU System Processor (GSP).
        """,
        """
        [   12.660391] NVRM: This can occur when a driver such as:
                       NVRM: nouveau, rivafb, nvidiafb or rivatv
                       NVRM: was loaded and obtained ownership of the NVIDIA device(s).
        """,
        f"""
        2021-03-01 10:00:00.000001: {OPENED}
        2021-03-01 10:00:00.000002: {DRIVER} CUDA_ERROR_UNKNOWN: unknown error
        2021-03-01 10:00:00.000003: {ABSENT} (gpu-box): /proc/driver/nvidia/version does not exist
        """,
        "pynvml.NVMLError_DriverNotLoaded: Driver Not Loaded",
        """
        docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create
        failed: nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown.
        """,
        """
        $ lspci | grep -i nvidia
        65:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev a1)
        2024-06-01 10:00:00.1: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:282] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
        2024-06-01 10:00:00.2: I external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:145] kernel driver does not appear to be running on this host (node7): /proc/driver/nvidia/version does not exist
        """,
        "kernel: Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7\nkernel: Loading of module with unavailable key is rejected",
        "Error! Bad return status for module build on kernel: 6.8.0-40-generic (x86_64)\nConsult /var/lib/dkms/nvidia/550.90.07/build/make.log for more information.",
        "nvidia-persistenced[911]: Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist",
        '{"log":"NVIDIA-SMI has failed because it couldn\'t communicate with the NVIDIA driver.\\n","stream":"stderr","time":"2024-05-01T10:00:00Z"}',
        "NVIDIA-SMI has failed because it couldn‘t communicate with the NVIDIA driver.",
        'msg="Unable to load CUDA management library /usr/lib/libnvidia-ml.so.525.1: nvml vram init failure: 9"',
        "ERROR: Unable to load the kernel module 'nvidia.ko'.",
        "01:00.0 VGA compatible controller: NVIDIA Corporation GA102 (rev a1)\nKernel driver in use: nouveau",
    ),
    "driver-library-missing": (
        "Failed to initialize NVML: could not load NVML library.",
        "main.go:99] Initializing NVML.\nmain.go:131] failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND",
        f"""
        {DRIVER} UNKNOWN ERROR (303)
        {DIAGNOSTICS}134] retrieving CUDA diagnostic information for host: lab3
        {DIAGNOSTICS}145] libcuda reported version is: NOT_FOUND: was unable to find libcuda.so DSO loaded into this program
        {DIAGNOSTICS}149] kernel reported version is: 535.104.5
        """,
        """
        NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA Display Driver is properly
        installed and present in your system.
        """,
        """
        root@1f2e3d4c5b6a:/workspace# nvidia-smi
        | NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |
        root@1f2e3d4c5b6a:/workspace# python -c 'import tensorflow'
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory
        """,
        "RuntimeError: CUDA error: PTX JIT compiler library not found (CUDA_ERROR_JIT_COMPILER_NOT_FOUND)",
    ),
    "driver-library-mismatch": (
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.127",
        """
        [rank0]: RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling
        [rank0]: NumCudaDevices() that might have already set an error? Error 803: system has unsupported display driver / cuda driver combination
        """,
        """
        kernel: NVRM: API mismatch: the client has the version 535.183.01, but
        kernel: NVRM: this kernel module has the version 535.161.08.  Please
        kernel: NVRM: make sure that this kernel module and all NVIDIA driver
        """,
        "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown",
        "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW",
        "NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch.",
        f"{DRIVER} CUDA_ERROR_UNKNOWN: unknown error\n{DIAGNOSTICS}190] libcuda reported version is: 410.78.0\n{DIAGNOSTICS}194] kernel reported version is: 390.87.0",
    ),
    "driver-too-old": (
        """
        RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by
        downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx
        """,
        """
        nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a newer
        version, or use an earlier cuda container: unknown.
        """,
        "cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version",
        "RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.",
        'msg="Unable to load cudart CUDA management library /tmp/libcudart.so.11.0: cudart init failure: 35"',
    ),
    "driver-unresponsive": (
        "[ 4716.7] INFO: task nvidia-smi:18213 blocked for more than 122 seconds.",
        'level=error msg="health check: nvidia-smi timed out after 30s"',
    ),
    "cuda-stub-loaded": (
        f"{DRIVER} UNKNOWN ERROR (34)\n{DIAGNOSTICS}194] kernel reported version is: 570.86.15",
        "torch.AcceleratorError: CUDA error: CUDA driver is a stub library",
    ),
}

WARNED = {
    "driver-missing": (
        "I external/local_tsl/tsl/cuda/cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.",
    ),
}

NO_ERROR = (
    # a GPU was found after all
    f"{DRIVER} CUDA_ERROR_UNKNOWN: unknown error\nI tensorflow/core/common_runtime/gpu/gpu_device.cc:1928] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 14237 MB memory:  -> device: 0, name: Tesla T4, pci bus id: 0000:00:04.0, compute capability: 7.5",
    "Failed to initialize NVML: Driver/library version mismatch\n$ sudo reboot\n$ nvidia-smi\n| NVIDIA-SMI 550.90.07    Driver Version: 550.90.07    CUDA Version: 12.4 |",
    # healthy tables
    "| NVIDIA-SMI 535.129.03             Driver Version: 535.129.03   CUDA Version: 12.2     |\n|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                    0 |\n|  No running processes found                                                           |",
    "[    5.1] nvidia: loading out-of-tree module taints kernel.\n[    5.2] nvidia-nvlink: Nvlink Core is being initialized, major device number 511\n[    5.3] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan 23 03:31:22 UTC 2025",
    "I0000 00:00:1 1 cuda_executor.cc:1015] successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node, so returning NUMA node zero.",
    # machines without a GPU
    "I0000 xla_bridge.py:900] Unable to initialize backend 'cuda': FAILED_PRECONDITION: No visible GPU devices.",
    "I0000 cudart_stub.cc:32] Could not find cuda drivers on your machine, GPU will not be used.\nEpoch 2/9",
    "driver's CUDA version is 12.2 which is older than the ptxas CUDA version (12.5.40). Because the driver is older than the ptxas version, XLA is disabling parallel compilation, which may slow down compilation.",
    "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 train.py\nstep 100 loss 2.31",
    "INFO:jax._src.xla_bridge:Unable to initialize backend 'rocm': NOT_FOUND: Could not find registered platform with name: \"rocm\".",
)
