"""Every kind of event: lines from different versions that must give it, and lines close by that must not."""

import pytest
from one_line import assert_meant, assert_not_meant, events

from gpucheck.logs import signatures

KNOWN = signatures.load()

# kind -> (line, fields that must be among the event's), ...
MEANT = {
    "loss-stuck": (
        ("- Result: training loss never decreases", {"message": "loss never decreases"}),
        ("**Loss stuck at 2.303**: the labels are shuffled", {}),
        ("### Q5: 训练时 loss 一直不下降", {}),
        ("lossが下がらない", {}),
        ("loss가 줄어들지 않는 문제", {}),
        ("loss не падает", {}),
        ("La loss no baja de 3", {}),
        ("Der Loss sinkt nicht", {}),
    ),
    "loss-at-chance": (
        ("42/42 [=====] - 1s 3ms/step - loss: 0.6931 - accuracy: 0.5000", {"classes": "2"}),
        ("42/42 ━━━━ 1s 3ms/step - accuracy: 0.1003 - loss: 2.3027", {"classes": "10"}),
    ),
    "nccl-ready": (
        ("gpu-3:91:402 [1] NCCL INFO ncclCommInitRank comm 0x9d rank 1 nranks 4 cudaDev 1 - Init COMPLETE", {}),
        ("gpu-3:91:91 [0] NCCL INFO Using network Socket", {}),
        ("gpu-3:91:402 [0] NCCL INFO Connected all trees", {}),
    ),
    "gpu-shared-by-ranks": (
        (
            "init.cc:801 NCCL WARN Duplicate GPU detected : rank 3 and rank 2 both on CUDA device 81000",
            {"rank": "3", "other": "2"},
        ),
        ("ncclInvalidUsage: Duplicate GPU detected: rank 5 and rank 1 both on CUDA device", {"rank": "5", "other": "1"}),
    ),
    "session-started": (
        ("I tensorflow/core/distributed_runtime/master_session.cc:998] Start master session 8c1f0e2d7b5a with config:", {}),
        ("I] Start master session 11aa22bb33cc with config: allow_soft_placement: true", {}),
    ),
    "gpu-memory-holders": (
        (
            "GPU 1 has a total capacity of 10.00 GiB of which 9.00 MiB is free. Process 77 has 6.00 GiB memory in use. Including"
            " non-PyTorch memory, this process has 3.90 GiB memory in use.",
            {"others": str(6 << 30), "total": str(10 << 30)},
        ),
        (
            "GPU 0 has a total capacity of 40.00 GiB of which 1.00 MiB is free.\n"
            "Process 11 has 18.00 GiB memory in use.\nProcess 12 has 21.00 GiB memory in use.",
            {"others": str(18 << 30)},
        ),
    ),
    "gpu-memory-full": (
        (
            "failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory reported: 8513978368",
            {},
        ),
        ("numba: Call to cuCtxCreate results in CUDA_ERROR_OUT_OF_MEMORY", {}),
    ),
    "replicas-diverged": (
        (
            "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 7 params, while rank 0 has inconsistent 9 params.",
            {},
        ),
        ("FloatingPointError: Fatal error: gradients are inconsistent between workers. Try --ddp-backend=legacy_ddp.", {}),
        ("AssertionError: parameter checksums not matching across DP replicas", {}),
        ("ERROR: model weights differ between ranks after step 400", {}),
    ),
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
    "amd-gpu": (
        (
            "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XTX] (rev c8)",
            {"device": "03:00.0", "name": "Navi 31 [Radeon RX 7900 XTX]"},
        ),
        ("c1:00.0 Display controller: Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran", {"device": "c1:00.0"}),
    ),
    "cuda-package-missing": (
        ("  - nothing provides cuda-cudart >=12.4,<12.5 needed by pytorch-cuda-12.4-h1_0", {"package": "cuda-cudart"}),
        (
            "PackagesNotFoundError: The following packages are not available from current channels:\n\n  - cudatoolkit=11.3",
            {"package": "cudatoolkit"},
        ),
    ),
    "cudnn-absent": (
        ("UnimplementedError: Graph execution error: DNN library is not found.", {}),
        ("\t [[{{node model/conv1/Conv2D}}]] DNN library is not found. [Op:__inference_predict_function_9]", {}),
    ),
    "gpu-driven": (
        ("\tKernel driver in use: nvidia", {}),
        ("    Kernel driver in use: nvidia\n    Kernel modules: nouveau", {}),
    ),
    "gpu-named": (
        ("On a GTX 1070 Ti it ends at once.", {"gpu": "GTX 1070 Ti"}),
        ("the node's V100 is sm_70, older than that", {"gpu": "V100", "capability": "sm_70"}),
    ),
    "scheduler-without-nvml": (
        (
            "slurmd: We were configured to autodetect nvml functionality, but we weren't able to find that lib when Slurm was configured.",
            {},
        ),
        ("slurmd: We were configured with nvml functionality, but that lib wasn't found on the system.", {}),
    ),
    "cuda-toolkit": (
        ("Cuda compilation tools, release 11.8, V11.8.89", {"version": "11.8"}),
        ("#8 0.3 Cuda compilation tools, release 12.4, V12.4.131", {"version": "12.4"}),
    ),
    "musl": (
        (
            "Error relocating /usr/lib/python3.12/site-packages/tensorflow/libtensorflow_framework.so.2: __memcpy_chk: symbol not found",
            {},
        ),
        ("Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by _pywrap.so)", {}),
    ),
    "package-installed": (
        (
            "Successfully installed absl-py-2.1.0 nvidia-cudnn-cu12-9.3.0.75 tensorflow-2.20.0 wrapt-1.16.0",
            {"package": "tensorflow", "version": "2.20.0", "cuda": "yes"},
        ),
        (
            "Requirement already satisfied: tensorflow in /opt/conda/lib/python3.9/site-packages (2.8.0)",
            {"path": "/opt/conda/lib/python3.9/site-packages", "version": "2.8.0", "cuda": "no"},
        ),
    ),
    "pip-unreachable": (
        ("WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<pip._vendor...>')'", {}),
        (
            "urllib3.exceptions.NewConnectionError: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
            {},
        ),
    ),
    "allocation-retried": (
        (
            "W tensorflow/core/common_runtime/bfc_allocator.cc:239] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB "
            "with freed_by_count=0. The caller indicates that this is not a failure, but may mean that there could be gains.",
            {"bytes": str(2 << 30), "device": "GPU:0"},
        ),
        (
            "W external/local_tsl/tsl/framework/bfc_allocator.cc:296] Allocator (GPU_3_bfc) ran out of memory trying to allocate "
            "512.5KiB (rounded to 524800)requested by op Conv2D. The caller indicates that this is not a failure",
            {"device": "GPU:3"},
        ),
    ),
    "architecture": (
        ("Downloading tensorflow-2.21.0-cp312-cp312-manylinux_2_27_aarch64.whl (250 MB)", {}),
        ("Linux dgx 6.8.0-1010-nvidia #10 SMP aarch64 aarch64 GNU/Linux", {"machine": "aarch64"}),
    ),
    "autotuner-failed": (
        ("op_kernel.cc:1858] INTERNAL: Autotuner could not find any supported configs for HLO: %cudnn-conv", {}),
        ("XlaRuntimeError: INTERNAL: Autotuner could not find any supported configs for HLO: %gemm", {}),
    ),
    "backend-unavailable": (
        (
            "INFO:jax._src.xla_bridge:Unable to initialize backend 'cuda': module has no attribute",
            {"backend": "cuda", "fatal": "no"},
        ),
        ("RuntimeError: Unable to initialize backend 'rocm': NOT_FOUND: no platform", {"backend": "rocm", "fatal": "yes"}),
    ),
    "compute-mode": (
        ("    Compute Mode                          : Exclusive_Process", {"mode": "exclusive-process"}),
        ("| 30%   40C    P8    20W / 300W |      1MiB / 24576MiB |      0%   E. Process |", {"mode": "exclusive-process"}),
    ),
    "container-gpu-denied": (
        (
            'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
            {"reason": "runtime"},
        ),
        ("nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown.", {"reason": "hook"}),
        ("WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.", {"reason": "not-passed"}),
        ("0/4 nodes are available: 4 Insufficient nvidia.com/gpu.", {"reason": "scheduler"}),
        ("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", {"reason": "runtime"}),
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
    "cpu-instructions-missing": (
        (
            "The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.",
            {"instructions": "AVX"},
        ),
        ("This version of jaxlib was built using AVX instructions, which your CPU and/or operating system do not support.", {}),
    ),
    "cpu-workers-excessive": (
        (
            "UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in current "
            "system is 4, which is smaller than what this DataLoader is going to create.",
            {"asked": "16", "suggested": "4"},
        ),
        ("This DataLoader will create 8 worker processes in total. Suggested max is 2", {"suggested": "2"}),
    ),
    "cublas-failed": (
        (
            "E cuda_blas.cc:238] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED",
            {"status": "CUBLAS_STATUS_NOT_INITIALIZED"},
        ),
        ("E0000 00:00:1.5 7 cuda_blas.cc:204] failed to create cublas handle: the resource allocation failed", {}),
        ("InternalError: Blas xGEMM launch failed : a.shape=[1,32,784]", {}),
        (
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
            {"status": "CUBLAS_STATUS_ALLOC_FAILED"},
        ),
    ),
    "cuda-drivers-not-found": (
        ("I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used.", {}),
        ("I0000 00:00:1795189508.517842    6458 cudart_stub.cc:31] Could not find cuda drivers on your machine", {}),
    ),
    "cuda-error": (
        (
            "E cuda_event.cc:29] Error polling for event status: failed to query event: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory",
            {"code": "700"},
        ),
        ("RuntimeError: CUDA error: device-side assert triggered", {"code": "710"}),
        ("cupy.cuda.runtime.CUDARuntimeError: cudaErrorLaunchFailure: unspecified launch failure", {"code": "719"}),
        (
            "InternalError: cudaSetDevice() on GPU:0 failed. Status: all CUDA-capable devices are busy or unavailable",
            {"code": "46"},
        ),
        ("F cuda_driver.cc:219] Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error", {"code": "3"}),
    ),
    "cuda-runtime-unavailable": (
        (
            "E cuda_executor.cc:1737] INTERNAL: CUDA Runtime error: Failed call to cudaGetRuntimeVersion: Error loading CUDA libraries.",
            {},
        ),
        ("Error loading CUDA libraries. GPU will not be used.", {}),
    ),
    "cuda-used-after-fork": (
        ("RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, use 'spawn'", {}),
        ("CUDA context cannot be used after fork()", {}),
    ),
    "cuda-version-mismatch": (
        (
            "Found cuBLAS version 120103, but JAX was built against version 120205, which is newer.",
            {"library": "cuBLAS", "found": "120103"},
        ),
        ("RuntimeError: Found cuFFT version 11002, but JAX was built against version 11100, which is newer.", {"built": "11100"}),
    ),
    "cudnn-failed": (
        (
            "E cuda_dnn.cc:371] could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR",
            {"status": "CUDNN_STATUS_INTERNAL_ERROR"},
        ),
        ("UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize", {}),
        ("FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above.", {}),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", {"status": "CUDNN_STATUS_NOT_INITIALIZED"}),
    ),
    "cudnn-loaded": (
        ("I tensorflow/stream_executor/cuda/cuda_dnn.cc:384] Loaded cuDNN version 8100", {"version": "8100"}),
        ("I0000 00:00:1.1 9 cuda_dnn.cc:529] Loaded cuDNN version 90300", {"version": "90300"}),
    ),
    "cudnn-version-mismatch": (
        (
            "E cuda_dnn.cc:319] Loaded runtime CuDNN library: 7.1.4 but source was compiled with: 7.6.0.  CuDNN library major",
            {"loaded": "7.1.4", "compiled": "7.6.0"},
        ),
        (
            "E0430 22:32:43.417007 24 cuda_dnn.cc:454] Loaded runtime CuDNN library: 9.1.0 but source\nwas compiled with: 9.8.0.",
            {"loaded": "9.1.0", "compiled": "9.8.0"},
        ),
        ("RuntimeError: Found cuDNN version 8600, but JAX was built against version 8700, which is newer.", {"loaded": "8600"}),
    ),
    "cuinit-failed": (
        ("E cuda_driver.cc:406] failed call to cuInit: CUDA_ERROR_UNKNOWN", {"code": "999"}),
        ("E cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (303)", {"code": "303"}),
        (
            "E0000 00:00:1795191811.787784    4157 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to "
            "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination",
            {"code": "803"},
        ),
        ("numba.cuda.cudadrv.error.CudaSupportError: [100] Call to cuInit results in CUDA_ERROR_NO_DEVICE", {"code": "100"}),
        (
            "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was",
            {"code": "804"},
        ),
        ("RuntimeError: No CUDA GPUs are available", {"code": "100"}),
        ("jaxlib/cuda/versions_helpers.cc:55: operation cuInit(0) failed: CUDA_ERROR_NO_DEVICE", {"code": "100"}),
        ("nvidia-container-cli: initialization error: cuda error: unknown error", {"code": "999"}),
    ),
    "cusolver-failed": (
        ("failed to create cusolverDn instance: CUSOLVER_STATUS_NOT_INITIALIZED", {"status": "CUSOLVER_STATUS_NOT_INITIALIZED"}),
        ("F cuda_solvers.cc:115] Check failed: cusolverDnCreate() == Failed to create cuSolverDN instance.", {}),
    ),
    "dcgm-failed": (
        ("| GPU Memory                | Fail - GPU: 0                                  |", {"test": "GPU Memory"}),
        ("| PCIe                      | Fail - GPUs: 2, 3                              |", {"device": "GPUs: 2, 3"}),
    ),
    "device-denied": (
        ("NvRmPrivate: open /dev/nvidiactl: permission denied", {"path": "/dev/nvidiactl"}),
        ("ls: cannot open '/dev/nvidia0': Permission denied", {"path": "/dev/nvidia0", "error": "permission denied"}),
        ("Operation not permitted: '/dev/nvidia-uvm'", {"path": "/dev/nvidia-uvm"}),
    ),
    "device-node-missing": (
        ('open("/dev/nvidia-uvm") failed: No such file or directory', {"path": "/dev/nvidia-uvm"}),
        ("ls: cannot access '/dev/nvidia0': No such file or directory", {"path": "/dev/nvidia0"}),
    ),
    "devices-hidden": (
        ('I0000 00:00:1.1 8 cuda_diagnostics.cc:160] env: CUDA_VISIBLE_DEVICES="7"', {"value": "7"}),
        ("I cuda_diagnostics.cc:163] CUDA_VISIBLE_DEVICES is set to -1 - this hides all GPUs from CUDA", {"value": "-1"}),
    ),
    "driver-absent": (
        ("RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU", {}),
        ("bash: nvidia-smi: command not found", {}),
        ("'nvidia-smi' is not recognized as an internal or external command,", {}),
    ),
    "driver-mismatch": (
        (
            "E cuda_diagnostics.cc:313] kernel version 470.182.3 does not match DSO version 470.223.2",
            {"kernel": "470.182.3", "library": "470.223.2"},
        ),
        (
            "NVRM: API mismatch: the client has the version 535.161.07, but NVRM: this kernel module has the version 535.129.03.",
            {"kernel": "535.129.03"},
        ),
        ("NVML library version: 535.161", {"library": "535.161"}),
    ),
    "driver-older-than-ptxas": (
        (
            "W asm_compiler.cc:231] The NVIDIA driver's CUDA version is 12.2 which is older than the ptxas CUDA version (12.3.107).",
            {"version": "12.2", "needed": "12.3.107"},
        ),
        (
            "W0000 nvptx_compiler.cc:930] The NVIDIA driver's CUDA version is 12.4 which is older than the PTX compiler version 12.5.82.",
            {"needed": "12.5.82"},
        ),
    ),
    "driver-too-old": (
        ("InternalError: cudaGetDevice() failed. Status: CUDA driver version is insufficient for CUDA runtime version", {}),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 10020).", {"version": "10020"}),
        (
            "requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a newer version",
            {"needed": "12.4"},
        ),
    ),
    "driver-version": (
        ("I cuda_diagnostics.cc:190] libcuda reported version is: 580.159.4", {"library": "580.159.4"}),
        ("I cuda_diagnostics.cc:196] kernel reported version is: 396.64.0", {"kernel": "396.64.0"}),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build", {"kernel": "580.65.06"}),
        ("| NVIDIA-SMI 570.86.15  Driver Version: 570.86.15  CUDA Version: 12.8 |", {"kernel": "570.86.15", "cuda": "12.8"}),
    ),
    "driver-versions-agree": (
        ("I cuda_diagnostics.cc:303] kernel version seems to match DSO: 396.64.0", {"version": "396.64.0"}),
        ("I0000 00:00:1.1 4 cuda_diagnostics.cc:284] kernel version seems to match DSO: 580.159.4", {"version": "580.159.4"}),
    ),
    "ecc-count": (
        ("|   0  NVIDIA A100-SXM4-40GB    On  | 00000000:07:00.0 Off |                    4 |", {"count": "4"}),
        ("            DRAM Uncorrectable            : 12", {"memory": "DRAM", "count": "12"}),
        ("        Double Bit ECC                    : 2", {"count": "2"}),
        ("            SRAM Uncorrectable Parity     : 1", {"memory": "SRAM"}),
    ),
    "ecc-uncorrectable": (
        ("E cuda_driver.cc:1103] failed to synchronize: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered", {}),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", {}),
        ("| Error | GPU 3 has uncorrectable memory errors and row |", {"device": "3"}),
    ),
    "fabric-not-ready": (
        ("failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized", {}),
        ("nvidia-fabricmanager.service: Failed with result 'exit-code'.", {}),
        ("Error 802: system not yet initialized (Triggered internally at CUDAFunctions.cpp:109.)", {}),
    ),
    "gpu-absent": (
        ("[   12.345678] NVRM: No NVIDIA GPU found.", {}),
        ("kernel: NVRM: No NVIDIA graphics adapter found!", {}),
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
    "gpu-init-failed": (
        ("NVRM: GPU 0000:65:00.0: RmInitAdapter failed! (0x26:0x65:1474)", {"device": "0000:65:00.0"}),
        ("[  99.123456] NVRM: rm_init_adapter failed for device bearing minor number 0", {}),
    ),
    "gpu-libraries-missing": (
        ("W gpu_device.cc:1592] Cannot dlopen some GPU libraries. Please make sure the missing libraries are installed", {}),
        ("Skipping registering GPU devices...", {}),
    ),
    "gpu-lost": (
        ("NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.", {"device": "0000:18:00.0"}),
        ("NVRM: Rate limiting GSP RPC error prints.  The GPU likely needs to be reset.", {}),
    ),
    "gpu-memory": (
        ("totalMemory: 10.92GiB freeMemory: 10.75GiB", {"total": "10.92GiB", "free": "10.75GiB"}),
        ("Total memory: 7.92GiB\nFree memory: 7.80GiB", {"free": "7.80GiB"}),
    ),
    "gpu-memory-used": (
        (
            "| N/A   45C    P0    70W / 300W |  31021MiB / 32510MiB |     98%      Default |",
            {"used_mb": "31021", "total_mb": "32510"},
        ),
        ("|  0%   35C    P8    10W / 450W |    512MiB/24564MiB |      0%      Default |", {"used_mb": "512"}),
    ),
    "gpu-process": (
        (
            "|    0   N/A  N/A      4242      C   /usr/bin/python3                30517MiB |",
            {"pid": "4242", "memory_mb": "30517"},
        ),
        ("Process 777 has 21.50 GiB memory in use. Process 778 has", {"pid": "777", "memory": "21.50 GiB"}),
    ),
    "gpu-smi-error": (
        ("| ERR!   ERR! ERR!    N/A /  ERR! |  GPU is lost |", {}),
        ("|   1  Tesla V100       On  | 00000000:18:00.0 Off |                 ERR! |", {}),
    ),
    "gpu-throttled": (
        ("        HW Thermal Slowdown               : Active", {"reason": "hw thermal slowdown"}),
        ("GPU 1 Thermal violations totaling 4.2 seconds started at 1.0 seconds", {"seconds": "4.2"}),
        ("            HW Slowdown                       : Active", {"reason": "hw slowdown"}),
    ),
    "gpu-unsupported-by-driver": (
        (
            "NVRM: The NVIDIA Tesla K80 GPU installed in this system is\nNVRM:  not supported by the NVIDIA 535.54.03 driver release.",
            {},
        ),
        ("NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b06) installed in this system is not supported by open nvidia.ko", {}),
    ),
    "gpus-listed": (
        ("Num GPUs Available:  2", {"count": "2"}),
        ("[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]", {"count": "0"}),
        (
            "[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU'), PhysicalDevice(name='/physical_device:GPU:1', ...",
            {"count": "2"},
        ),
        ("I gpu_device.cc:1697] Adding visible gpu devices: 0, 1, 2", {"count": "3"}),
    ),
    "horovod-failed": (
        ("ImportError: Extension horovod.tensorflow has not been built: /lib/horovod/mpi_lib.so not found", {}),
        ("ValueError: Horovod has not been built with NCCL support", {}),
    ),
    "host-memory-pressure": (
        ("W cpu_allocator_impl.cc:82] Allocation of 3612672000 exceeds 10% of free system memory.", {"bytes": "3612672000"}),
        ("W0000 00:00:1.1 2 cpu_allocator_impl.cc:84] Allocation of 17 exceeds 50% of free system memory.", {"percent": "50"}),
    ),
    "host-out-of-memory": (
        ("srun: error: node1: task 0: Out Of Memory", {}),
        ("[Tue Mar  4 01:02:03 2025] Out of memory: Killed process 4321 (python3) total-vm:99kB", {"process": "python3"}),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM Killed.", {}),
        ("Last State:     Terminated\n  Reason:       OOMKilled", {}),
        ("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 91.6 GiB for an array", {}),
        ("terminate called after throwing an instance of 'std::bad_alloc'", {}),
        ("OSError: [Errno 12] Cannot allocate memory", {}),
    ),
    "import-failed": (
        (
            "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: The specified module could not be found.",
            {"module": "tensorflow"},
        ),
        ("Failed to load the native TensorFlow runtime.", {"module": "tensorflow"}),
        ("TypeError: Descriptors cannot be created directly.", {"module": "google.protobuf"}),
        (
            "ImportError: cannot import name 'abs' from 'keras.ops' (/usr/lib/python3/dist-packages/keras/ops.py)",
            {"module": "keras.ops"},
        ),
    ),
    "input-bound": (
        (
            "Your program is HIGHLY input-bound because 55.1% of the total step time sampled is waiting for input.",
            {"percent": "55.1"},
        ),
        ("Your program is MODERATELY input-bound because 12.0 % of the total step time", {"degree": "MODERATELY"}),
    ),
    "jax-version-conflict": (
        ("RuntimeError: jaxlib version 0.4.36 is newer than and incompatible with jax version 0.4.30.", {"jaxlib": "0.4.36"}),
        ("RuntimeError: jaxlib version 0.4.1 is older than the minimum version required by this jax", {"jaxlib": "0.4.1"}),
    ),
    "keras-backend": (
        ("Using TensorFlow backend.", {"name": "tensorflow"}),
        ("Using PyTorch backend.", {"name": "torch"}),
    ),
    "keras-backend-invalid": (
        ("ValueError: Unable to import backend : mxnet", {"name": "mxnet"}),
        ("ValueError: Invalid backend: 'cntk'", {"name": "cntk"}),
    ),
    "keras-version-conflict": (
        ("AttributeError: module 'tensorflow.python.keras.backend' has no attribute 'get_graph'", {}),
        ("ValueError: Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers.", {}),
        ("ImportError: `keras.optimizers.legacy` is not supported in Keras 3. When using `tf.keras`, to continue", {}),
        ("AttributeError: module 'keras.utils' has no attribute 'to_categorical2'", {}),
        ("ModuleNotFoundError: No module named 'keras.engine.topology'", {}),
        (
            "TypeError: Error when deserializing: Unrecognized keyword arguments passed to InputLayer: {'batch_shape': [None, 28]}",
            {},
        ),
    ),
    "kernel-cache-unwritable": (
        ("could not write /home/me/.nv/ComputeCache/index: Permission denied", {"path": "/home/me/.nv/ComputeCache/index"}),
        ("CUDA_CACHE_PATH=/ro/cache is not writable", {}),
    ),
    "kernel-driver-absent": (
        (
            "I cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host (box): /proc/driver/nvidia/version "
            "does not exist",
            {"host": "box"},
        ),
        ("cat: /proc/driver/nvidia/version: No such file or directory", {}),
    ),
    "kernel-image-missing": (
        ("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available for execution on the device", {"code": "209"}),
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device", {"code": "209"}),
        (
            "RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
            {"capability": "sm_120"},
        ),
    ),
    "kernel-module-failed": (
        ("modprobe: ERROR: could not insert 'nvidia': Required key not available", {"reason": "signature"}),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-45-generic", {"reason": "not-built"}),
        (
            "NVRM: This can occur when a driver such as:\n[   9.123456] NVRM: nouveau, rivafb, nvidiafb or rivatv",
            {"reason": "nouveau"},
        ),
    ),
    "kernels-jit-compiled": (
        (
            "W gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA "
            "kernels will be jit-compiled from PTX, which could take 30 minutes or longer.",
            {"capability": "12.0"},
        ),
        ("TensorFlow was not built with CUDA kernel binaries compatible with compute capability 8.9.", {"capability": "8.9"}),
    ),
    "killed": (
        ("Segmentation fault (core dumped)", {"signal": "SIGSEGV"}),
        ("/var/spool/slurmd/job1/slurm_script: line 9: 12345 Killed                  python train.py", {"signal": "SIGKILL"}),
        ("subprocess.CalledProcessError: Command died with <Signals.SIGABRT: 6>.", {"signal": "SIGABRT"}),
        ("worker exited with code 137", {"signal": "SIGKILL"}),
        ("Fatal Python error: Bus error", {"signal": "SIGBUS"}),
    ),
    "legacy-api": (
        ("AttributeError: module 'tensorflow' has no attribute 'Session'", {"name": "Session"}),
        ("ModuleNotFoundError: No module named 'tensorflow.contrib'", {"name": "tensorflow.contrib"}),
        ("ImportError: cannot import name 'multi_gpu_model' from 'keras.utils'", {"name": "multi_gpu_model"}),
    ),
    "libdevice-missing": (
        ("InternalError: libdevice not found at ./libdevice.10.bc [Op:__inference_train]", {"fatal": "yes"}),
        (
            "W gpu_backend_lib.cc:543] Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in",
            {"fatal": "no"},
        ),
    ),
    "library-corrupt": (
        ("ImportError: /usr/lib/x86_64-linux-gnu/libcuda.so.1: file too short", {"soname": "libcuda.so.1"}),
        ("OSError: /opt/lib/libcudnn.so.9: invalid ELF header", {"error": "invalid ELF header"}),
        ("libcudart.so.12: wrong ELF class: ELFCLASS32", {}),
    ),
    "library-missing": (
        (
            "W dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object",
            {"soname": "libcudnn.so.8"},
        ),
        (
            "ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory",
            {"soname": "libcublas.so.10.0"},
        ),
        (
            "Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found",
            {"soname": "cudart64_110.dll"},
        ),
        (
            "Could not locate cudnn_ops_infer64_8.dll. Please make sure it is in your library path!",
            {"soname": "cudnn_ops_infer64_8.dll"},
        ),
        (
            "Unable to load any of {libcudnn_graph.so.9.1.0, libcudnn_graph.so.9.1, libcudnn_graph.so.9, libcudnn_graph.so}",
            {"soname": "libcudnn_graph.so.9"},
        ),
        (
            "I dso_loader.cc:102] Couldn't open CUDA library libcudnn.so. LD_LIBRARY_PATH: /usr/local/cuda",
            {"soname": "libcudnn.so"},
        ),
        ("RuntimeError: jaxlib/cuda/versions_helpers.cc: Unable to load cuSPARSE. Is it installed?", {"soname": "cuSPARSE"}),
    ),
    "library-opened": (
        ("I dso_loader.cc:49] Successfully opened dynamic library libcuda.so.1", {"soname": "libcuda.so.1"}),
        ("I dso_loader.cc:125] successfully opened CUDA library libcublas.so.8.0 locally", {"soname": "libcublas.so.8.0"}),
    ),
    "locked-memory-limit": (
        ("libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes. This will severely limit memory registrations.", {}),
        ("ulimit: max locked memory (memlock) too low", {}),
    ),
    "loss-not-finite": (
        ("WARNING: non-finite loss, ending training", {}),
        ("100/100 [=====] - 3s 30ms/step - loss: nan - accuracy: 0.1", {"value": "nan"}),
        ("{'loss': inf, 'epoch': 0.5}", {"value": "inf"}),
        ("Step 200: train_loss=nan lr=0.1", {"value": "nan", "step": "200"}),
        ("ERROR:tensorflow:Model diverged with loss = NaN.", {"value": "nan"}),
        ("InvalidArgumentError: gradients/grad_0 : Tensor had NaN values [[CheckNumerics]]", {"value": "nan"}),
        ("Batch 7: Invalid loss, terminating training", {"step": "7"}),
    ),
    "macos": (
        ("Metal device set to: Apple M2 Pro", {}),
        ("Using cached tensorflow_macos-2.16.2-cp311-cp311-macosx_12_0_arm64.whl", {}),
    ),
    "memory-growth-mixed": (
        ("ValueError: Memory growth cannot differ between GPU devices", {}),
        ("memory growth needs to be the same across GPUs", {}),
    ),
    "memory-growth-too-late": (
        ("RuntimeError: Physical devices cannot be modified after being initialized", {}),
        ("RuntimeError: Virtual devices cannot be modified after being initialized", {}),
    ),
    "mig-failed": (
        ("Unable to create a GPU instance on GPU  0 using profile 19: Insufficient Resources", {}),
        ("slurmd: fatal: MIG mode is enabled, but no MIG devices were found.", {}),
        ("No MIG-supported devices found.", {}),
    ),
    "module-missing": (
        ("ModuleNotFoundError: No module named 'tensorflow'", {"module": "tensorflow"}),
        ("ImportError: No module named tensorflow.python", {"module": "tensorflow.python"}),
        ("/usr/bin/python3: No module named keras", {"module": "keras"}),
    ),
    "multi-worker-fit-unsupported": (
        ("}) with an unsupported type (<class 'tensorflow.python.distribute.values.PerReplica'>) to a Tensor.", {}),
        ("ValueError: Attempt to convert a value (PerReplica:{", {}),
    ),
    "nccl-failed": (
        ("InternalError: Failed to create a NCCL communicator: rank 0", {}),
        (
            "n1:5776:5902 [0] transport/net_ib.cc:1296 NCCL WARN NET/IB : Got completion from peer 10.0.0.5<33092> with error 12",
            {},
        ),
        (
            "[2025-06-01 10:00:00] n1:1:2 [3] socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.0.0.5<4711> failed : Connection refused",
            {},
        ),
        ("RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1269, unhandled system error, NCCL version 2.14.3", {}),
        ("ncclInternalError: Internal check failed.", {"code": "ncclInternalError"}),
        ("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5)", {"code": "timeout"}),
    ),
    "nccl-warning": (
        ("n1:1:2 [0] NCCL WARN NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file, failed", {}),
        ("n1:1:2 [0] graph/xml.cc:12 NCCL WARN No NIC with GPUDirect RDMA here", {}),
    ),
    "nvlink-down": (
        ("NVRM: GPU 0000:65:00.0: NVLink link 2 disabled due to error", {"link": "2"}),
        ("         Link 5: <inactive>", {"link": "5"}),
        ("NVRM: Xid (PCI:0000:65:00): 74, NVLink: fatal error detected on link 2", {}),
    ),
    "nvml-failed": (
        ("Failed to initialize NVML: Driver/library version mismatch", {"code": "18"}),
        ("pynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found", {"code": "12"}),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that", {"code": "9"}),
        ("Failed to initialize NVML: GPU access blocked by the operating system", {"code": "17"}),
        (
            "Unable to determine the device handle for GPU0000:65:00.0: GPU is lost.  Reboot the system to recover this GPU",
            {"code": "15"},
        ),
        ("nvmlInit failed: NVML_ERROR_DRIVER_NOT_LOADED", {"code": "9"}),
        ("No devices were found", {"code": "28"}),
    ),
    "open-files-limit": (
        ("OSError: [Errno 24] Too many open files: '/data/x.tfrecord'", {}),
        ("RuntimeError: received 0 items of ancdata: too many open files", {}),
    ),
    "optional-library-missing": (
        ("W tf_tensorrt: TF-TRT Warning: Could not find TensorRT", {"soname": "TensorRT"}),
        (
            "Could not load library libnvrtc.so.12. Error: libnvrtc.so.12: cannot open shared object file: No such file",
            {"soname": "libnvrtc.so.12"},
        ),
        (
            "Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file",
            {"soname": "libnvinfer.so.7"},
        ),
    ),
    "out-of-memory": (
        (
            "W bfc_allocator.cc:491] Allocator (GPU_1_bfc) ran out of memory trying to allocate 1.50GiB (rounded to 1610612736)requested "
            "by op Conv2D\nIf the cause is memory fragmentation maybe the environment variable will improve the situation.",
            {"device": "GPU:1", "bytes": "1610612736", "allocator": "gpu"},
        ),
        (
            "OOM when allocating tensor with shape[64,512] and type float on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu",
            {"device": "CPU:0", "allocator": "cpu"},
        ),
        (
            "E cuda_driver.cc:924] failed to allocate 7.43G (7983005696 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY",
            {"allocator": "cuda"},
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has",
            {"bytes": "20971520", "device": "GPU:0"},
        ),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.", {"bytes": "8589934592"}),
        ("local_rendezvous.cc:412] Local rendezvous is aborting with status: RESOURCE_EXHAUSTED: failed to allocate memory", {}),
    ),
    "pages-retired": (
        ("        Pending Page Blacklist            : Yes", {"state": "pending"}),
        ("    Pending Page Retirement : Yes", {}),
    ),
    "pcie-limited": (
        (
            "pci 0000:04:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:00:01.0 (capable of "
            "126.016 Gb/s with 16.0 GT/s PCIe x8 link)",
            {"device": "0000:04:00.0", "width": "8"},
        ),
        (
            "                Link Width\n                    Max               : 16x\n                    Current           : 4x",
            {"width": "4"},
        ),
        ("\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)", {"width": "8"}),
    ),
    "peer-access-unavailable": (
        ("transport/shm.cc:590 NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'", {}),
        ("W gpu_device.cc: failed to enable peer access from 0x55 to 0x56: CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", {}),
    ),
    "pip-conflict": (
        (
            "tensorflow 2.15.0 requires keras<2.16,>=2.15.0, but you have keras 3.3.3 which is incompatible.",
            {"package": "tensorflow", "found": "keras 3.3.3"},
        ),
        (
            "tf-keras 2.21.0 requires tensorflow<2.22,>=2.21, but you have tensorflow 2.18.0 which is incompatible.",
            {"package": "tf-keras"},
        ),
    ),
    "pip-no-matching-distribution": (
        (
            "ERROR: Could not find a version that satisfies the requirement tensorflow==2.8.0 (from versions: 2.16.1, 2.17.0)",
            {"package": "tensorflow", "version": "==2.8.0", "available": "2.16.1 to 2.17.0"},
        ),
        ("  Could not find a version that satisfies the requirement tensorflow (from versions: )", {"package": "tensorflow"}),
        ("ERROR: No matching distribution found for tensorflow[and-cuda]>=2.14", {"package": "tensorflow", "version": ">=2.14"}),
        (
            "ERROR: Could not find a version that satisfies the requirement tensorflow-text (from -r req.txt (line 3)) (from versions: none)",
            {"available": "none"},
        ),
    ),
    "pip-python-mismatch": (
        ("ERROR: Package 'keras' requires a different Python: 3.8.10 not in '>=3.9'", {"python": "3.8.10", "needed": ">=3.9"}),
        ("ERROR: Ignored the following versions that require a different python version: 2.16.1 Requires-Python >=3.9", {}),
    ),
    "pip-wheel-unsupported": (
        ("ERROR: tensorflow-2.10.0-cp39-cp39-win_amd64.whl is not a supported wheel on this platform.", {}),
        (
            "ERROR: jaxlib-0.4.1-cp310-none-any.whl is not a supported wheel on this platform.",
            {"file": "jaxlib-0.4.1-cp310-none-any.whl"},
        ),
    ),
    "placement-failed": (
        (
            "Could not satisfy explicit device specification '/device:GPU:1' because no matching device",
            {"device": "/device:GPU:1"},
        ),
        ("Cannot assign a device for operation MatMul: Could not satisfy explicit device specification '' because the node", {}),
    ),
    "precision-unsupported": (
        ("WARNING:tensorflow:Mixed precision compatibility check (mixed_float16): WARNING", {"dtype": "mixed_float16"}),
        ("ValueError: Your setup doesn't support bf16/gpu. You need Ampere+ GPU with cuda>=11.0", {"dtype": "bf16"}),
        ("ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0.", {"dtype": "bfloat16"}),
    ),
    "ptx-unsupported": (
        ("'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'", {"code": "218"}),
        ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported toolchain.", {"code": "222"}),
        ("RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.", {"code": "222"}),
    ),
    "ptxas-failed": (
        ("INTERNAL: ptxas exited with non-zero error code 65280, output:", {"code": "65280"}),
        ("ptxas fatal   : Unresolved extern function '__nv_expf'", {}),
    ),
    "ptxas-missing": (
        ("W asm_compiler.cc:80] Couldn't get ptxas version string: INTERNAL: Couldn't invoke ptxas --version", {}),
        ("W redzone_allocator.cc:314] INTERNAL: Failed to launch ptxas", {}),
        ("F nvptx_compiler.cc:604] ptxas returned an error: Can't find ptxas binary in ${CUDA_DIR}/bin.", {}),
        ("INTERNAL: No PTX compilation provider is available. Neither ptxas/nvlink nor nvjtlink is available.", {}),
    ),
    "ptxas-too-old": (
        ("ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'", {"target": "sm_120"}),
        ("Falling back to the CUDA driver for PTX compilation; ptxas does not support CC 8.9", {"target": "8.9"}),
        (
            "You are using ptxas 10.1.243, which is older than 11.1. ptxas before 11.1 is known to miscompile",
            {"version": "10.1.243"},
        ),
        (
            "ptxas /tmp/x.ptx, line 9; fatal : Unsupported .version 8.4; current version is '8.2'",
            {"needed": "8.4", "version": "8.2"},
        ),
    ),
    "replicas": (
        ("Number of devices: 4", {"count": "4"}),
        ("num_replicas_in_sync: 8", {"count": "8"}),
    ),
    "rocm": (
        ("E rocm_driver.cc:261] failed call to hipInit: HIP_ERROR_InvalidDevice", {}),
        ('"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"', {}),
        ("Could not load dynamic library 'libamdhip64.so'; dlerror: libamdhip64.so: cannot open", {}),
    ),
    "row-remapping": (
        (
            "    Remapped Rows\n        Correctable Error : 0\n        Uncorrectable Error : 1\n        Pending : Yes",
            {"state": "Pending"},
        ),
        ("        Remapping Failure Occurred        : Yes", {}),
        ("NVRM: Row remapper: remapping pending", {"state": "pending"}),
    ),
    "shared-memory-exhausted": (
        (
            "RuntimeError: DataLoader worker (pid 41) is killed by signal: Bus error. It is possible that dataloader's workers are out",
            {},
        ),
        ("NCCL WARN Error while creating shared memory segment /dev/shm/nccl-abc (size 9637888)", {"path": "/dev/shm/nccl-abc"}),
        ("ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).", {}),
        ("OSError: [Errno 28] No space left on device: '/dev/shm/psm_1'", {}),
    ),
    "strategy-device-invisible": (
        (
            "WARNING:tensorflow:Some requested devices in `tf.distribute.Strategy` are not visible to TensorFlow: /replica:0/device:GPU:1",
            {},
        ),
        ("Some requested devices in tf.distribute.Strategy are not visible to TensorFlow: /job:localhost/device:GPU:3", {}),
    ),
    "strategy-devices": (
        (
            "INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0', '/device:GPU:1')",
            {"count": "2"},
        ),
        ("Using MultiWorkerMirroredStrategy with devices ('/job:worker/task:0/device:CPU:0',)", {"devices": "CPU"}),
    ),
    "stated": (
        ("- cause: the NVIDIA driver is not installed", {"cause": "driver-missing"}),
        ("| cuDNN version mismatch | reinstall |", {"cause": "cudnn-version-mismatch"}),
    ),
    "symbol-missing": (
        ("ImportError: /venv/torch/lib/libtorch_cuda.so: undefined symbol: ncclDevCommDestroy", {"file": "libtorch_cuda.so"}),
        (
            "libcublas.so.11: symbol cublasLtFoo version libcublasLt.so.11 not defined in file libcublasLt.so.11",
            {"library": "libcublasLt.so.11"},
        ),
        (
            "ImportError: /lib/libm.so.6: version `GLIBC_2.29' not found (required by /v/tensorflow/x.so)",
            {"version": "GLIBC_2.29"},
        ),
        ("Invalid handle. Cannot load symbol cudnnCreateConvolutionDescriptor", {"symbol": "cudnnCreateConvolutionDescriptor"}),
    ),
    "tensorflow-gpu-package": (
        ('    The "tensorflow-gpu" package has been removed!', {}),
        ('  File "/tmp/pip-install-x/tensorflow-gpu/setup.py", line 37, in <module>', {}),
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
    ),
    "thread-limit": (
        ("F env.cc:73] Check failed: ret == 0 (11 vs. 0)Thread tf_data creation via pthread_create() failed.", {}),
        ("RuntimeError: can't start new thread", {}),
        ("libgomp: Thread creation failed: Resource temporarily unavailable", {}),
        ("OpenBLAS blas_thread_init: pthread_create failed for thread 12 of 64: Resource temporarily unavailable", {}),
    ),
    "tpu-failed": (
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
        ("RuntimeError: TPU7x is not supported by this TensorFlow", {"reason": "generation"}),
    ),
    "traceback": (
        ("ValueError: bad shape", {"type": "ValueError", "message": "bad shape"}),
        (
            "tensorflow.python.framework.errors_impl.InternalError: Graph execution error:",
            {"type": "tensorflow.python.framework.errors_impl.InternalError"},
        ),
        ("KeyboardInterrupt", {"type": "KeyboardInterrupt"}),
        ("[rank3]: RuntimeError: no", {"type": "RuntimeError"}),
    ),
    "training-progress": (
        (
            "182/182 [==============================] - 73s 198ms/step - loss: 0.1955 - val_loss: 0.1574",
            {"step": "182", "loss": "0.1955"},
        ),
        ("53/53 ━━━━━━━━━━━━━━━━━━━━ 81s 1s/step - accuracy: 0.3260 - loss: 2.3886", {"loss": "2.3886"}),
        ("2017-08-18 10:38:58.800137: step 1310, loss = 6.65 (1100.5 examples/sec)", {"step": "1310"}),
        ("{'loss': 0.3412, 'learning_rate': 2e-05, 'epoch': 1.5}", {"loss": "0.3412"}),
        ("Epoch 2/10", {"step": "2"}),
        ("INFO:tensorflow:global_step/sec: 4.5", {}),
        (" 12%|█▏        | 12/100 [00:10<01:20,  1.10it/s]", {"step": "12"}),
        ("8/8 - 1s - 165ms/step - loss: 0.5", {"loss": "0.5"}),
    ),
    "windows": (
        ("  Using cached nvidia_cusparse_cu12-12.3.1.170-py3-none-win_amd64.whl.metadata", {}),
        (r"PS D:\work\model> python train.py", {}),
        (r'  File "C:\Users\me\train.py", line 3, in <module>', {}),
    ),
    "windows-native": (
        ("WARNING:tensorflow:TensorFlow GPU support is not available on native Windows for TensorFlow >= 2.11.", {}),
        ("GPU is not supported on native Windows", {}),
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
            "Additional GRPC error information from remote target /job:worker/replica:0/task:0:",
            {"address": "/job:worker/replica:0/task:0"},
        ),
    ),
    "worker-version-skew": (
        ("n1:1:2 [0] bootstrap.cc:55 NCCL WARN Bootstrap : mismatch in NCCL version between ranks", {}),
        ("n1:1:2 [0] NCCL WARN Mismatched NCCL version detected : rank 0 version 21605 rank 1 version 21403", {}),
    ),
    "wsl": (
        ("nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown.", {}),
        ("libdxcore.so: cannot open shared object file: No such file or directory", {}),
    ),
    "xid": (
        (
            "[Wed Aug  5 03:12:01 2026] NVRM: Xid (PCI:0000:65:00): 79, pid=1, GPU has fallen off the bus.",
            {"code": "79", "device": "PCI:0000:65:00"},
        ),
        ("NVRM: Xid (0000:03:00): 14, Channel 00000001", {"code": "14"}),
        ("health.go:185] XidCriticalError: Xid=48 on Device=GPU-e3dbf294-2783; marking device as unhealthy.", {"code": "48"}),
        ("Detected XID 63 for GPU 3", {"code": "63"}),
    ),
    "xla-compiled": (
        ("I device_compiler.h:186] Compiled cluster using XLA!  This line is logged at most once", {}),
        ("I xla_compilation_cache.cc:476] Compiled cluster using XLA!", {}),
    ),
    "xla-device": (
        ("I service.cc:176]   StreamExecutor device (0): NVIDIA GeForce RTX 4090, Compute Capability 8.9", {"capability": "8.9"}),
        (
            "I0000 service.cc:161]   StreamExecutor [0]: NVIDIA H200, Compute Capability 9.0a (Driver: 13.0.0)",
            {"name": "NVIDIA H200"},
        ),
    ),
    "wsl-inside": (
        ("Linux DESKTOP-1 5.15.167.4-microsoft-standard-WSL2 #1 SMP x86_64 GNU/Linux", {}),
        ("LD_LIBRARY_PATH=/usr/lib/wsl/lib:/usr/local/cuda/lib64", {}),
    ),
    "gpu-on-bus": (
        (
            "01:00.0 VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)",
            {"device": "01:00.0", "name": "AD102 [GeForce RTX 4090]"},
        ),
        (
            "0000:19:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB]",
            {"device": "0000:19:00.0", "name": "GH100 [H100 SXM5 80GB]"},
        ),
    ),
    "driver-hung": (
        ("[ 4716.7] INFO: task nvidia-smi:18213 blocked for more than 122 seconds.", {"process": "nvidia-smi", "pid": "18213"}),
        ('time="x" level=error msg="nvidia-smi timed out after 30s"', {"process": "nvidia-smi"}),
        ("timeout: sending signal TERM to command 'nvidia-smi'", {"process": "nvidia-smi"}),
    ),
    "cuda-diagnostics": (
        ("I cuda_diagnostics.cc:169] retrieving CUDA diagnostic information for host: DESKTOP-WIN10", {}),
        ("I0000 00:00:1.1 4 cuda_diagnostics.cc:176] retrieving CUDA diagnostic information for host: gpu-host", {}),
    ),
    "ecc-history": (
        ("Aggregate\n    SRAM Uncorrectable : 0\n    DRAM Uncorrectable : 2", {"count": "2"}),
        ("Aggregate\n  Single Bit\n    Total : 0\n  SRAM Uncorrectable Parity : 1", {"count": "1"}),
    ),
    "xla-flag-unknown": (
        (
            "F0000 00:00:1.1 7 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_bogus_flag=1",
            {"flag": "--xla_bogus_flag=1"},
        ),
        ("F parse_flags_from_env.cc:226] Unknown flags in XLA_FLAGS: --xla_gpu_old=true --other", {"flag": "--xla_gpu_old=true"}),
    ),
}

# kind -> lines close by
NOT_MEANT = {
    "loss-stuck": (
        "Epoch 3: val_loss did not improve from 0.21",
        "# stop if the loss is not decreasing",
        "early stopping as the loss did not decrease",
        "packet loss is not reduced",
        "lossless mode is stuck",
    ),
    "loss-at-chance": (
        "42/42 [=====] - 1s 3ms/step - loss: 0.6931 - accuracy: 0.7300",
        "42/42 [=====] - 1s 3ms/step - loss: 0.4000 - accuracy: 0.5000",
    ),
    "cuda-package-missing": ("nothing provides requested pandas 9.9", "cuda-cudart provides nothing new"),
    "cudnn-absent": ("DNN library initialization failed.", "The DNN library is found in /usr/lib."),
    "gpu-driven": ("Kernel driver in use: nouveau", "Kernel driver in use: nvidia-current", "Kernel modules: nvidia"),
    "gpu-named": ("a GeForce of some kind", "ASRTX 4090-lookalike"),
    "scheduler-without-nvml": ("slurmd: GPU NVML plugin loaded",),
    "amd-gpu": ("00:00.0 Host bridge: Advanced Micro Devices, Inc. [AMD] Starship/Matisse Root Complex",),
    "cuda-toolkit": ("no Cuda compilation tools here",),
    "musl": ("ld-linux-x86-64.so.2 => /lib64/ld-linux-x86-64.so.2",),
    "package-installed": ("Successfully installed numpy-2.1.0 tensorflow-text-2.18.0",),
    "pip-unreachable": ("a NewConnection was made",),
    "allocation-retried": (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB\nCurrent allocation summary follows.",
    ),
    "architecture": ("Linux box 6.8.0 #1 SMP x86_64 GNU/Linux",),
    "autotuner-failed": ("Autotuner found 3 supported configs",),
    "backend-unavailable": ("Able to initialize backend 'cuda'",),
    "compute-mode": (
        "    Compute Mode                          : Default",
        "of which 2.00 GiB is free. Process 4242 has 1.00 GiB",
    ),
    "container-gpu-denied": ("nvidia-container-cli version 1.14.3", "docker run --gpus all nvidia/cuda nvidia-smi"),
    "container-host": ("hostname: gpu-host", "root@workstation:~#", "hostname: deadbeefcafe1"),
    "cpu-build": (
        ">>> tf.test.is_built_with_cuda()\nTrue",
        "This TensorFlow binary is optimized to use available CPU instructions",
    ),
    "cpu-fallback": (
        "Executing op RangeDataset in device /job:localhost/replica:0/task:0/device:CPU:0",
        "Executing op MatMul in device /job:localhost/replica:0/task:0/device:GPU:0",
    ),
    "cpu-instructions-missing": ("Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA",),
    "cpu-workers-excessive": ("DataLoader with 4 workers",),
    "cublas-failed": (
        "Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS",
        "cublas call returned CUBLAS_STATUS_SUCCESS",
    ),
    "cuda-drivers-not-found": ("Found cuda drivers on your machine",),
    "cuda-error": (
        "E cuda_dnn.cc:8579] Unable to register cuDNN factory",
        "W cuda_driver: CUDA_ERROR_DEINITIALIZED: driver shutting down",
        "failed call to cuInit: CUDA_ERROR_NO_DEVICE",
    ),
    "cuda-runtime-unavailable": ("Loading CUDA libraries",),
    "cuda-used-after-fork": ("RuntimeWarning: os.fork() was called.",),
    "cuda-version-mismatch": ("Found cuBLAS version 120205",),
    "cudnn-failed": (
        "W cuda_executor.cc:1755] Failed to determine cuDNN version (Note that this is expected): INTERNAL: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR",
        "could not destroy cudnn handle: CUDNN_STATUS_BAD_PARAM",
    ),
    "cudnn-loaded": ("Loaded runtime CuDNN library: 9.1.0",),
    "cudnn-version-mismatch": ("Loaded cuDNN version 8906",),
    "cuinit-failed": ("cuInit returned 0", "calling cuInit", "cuInit: CUDA_SUCCESS"),
    "cusolver-failed": ("Successfully opened dynamic library libcusolver.so.11", "CUSOLVER_STATUS_SUCCESS"),
    "dcgm-failed": (
        "|                           | Pass - GPUs: 1, 2                              |",
        "FAILED tests/test_a.py | Failed",
    ),
    "device-denied": ("/home/me/data: Permission denied", "crw-rw-rw- 1 root root 195, 0 /dev/nvidia0"),
    "device-node-missing": ("/dev/nvidia.txt.bak ok", "ls: cannot access '/dev/sda9': No such file or directory"),
    "devices-hidden": ("export CUDA_VISIBLE_DEVICES=0",),
    "driver-absent": ("$ nvidia-smi", "Found NVIDIA driver 580"),
    "driver-mismatch": ("kernel version seems to match DSO: 396.64.0",),
    "driver-older-than-ptxas": ("The NVIDIA driver's CUDA version is 12.5",),
    "driver-too-old": ("CUDA driver version is 12.5", "Your pip is too old"),
    "driver-version": ("libcuda reported version is: INVALID_ARGUMENT: expected",),
    "driver-versions-agree": ("kernel version 1 does not match DSO version 2",),
    "ecc-count": ("            SRAM Uncorrectable            : 0", "            SRAM Correctable              : 7"),
    "ecc-uncorrectable": ("Volatile Uncorr. ECC", "    Uncorrectable ECC errors : 0"),
    "fabric-not-ready": ("nvidia-fabricmanager.service: active (running)", "Fabric Manager started"),
    "gpu-absent": ("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.159.04",),
    "gpu-created": ("Created device /job:localhost/replica:0/task:0/device:CPU:0 with 99 MB memory",),
    "gpu-found": ("Found device tree",),
    "gpu-ignored": ("Adding visible gpu devices: 0",),
    "gpu-init-failed": ("NVRM: GPU at PCI:0000:9b:00: GPU-509665ad",),
    "gpu-libraries-missing": ("dlopened all GPU libraries",),
    "gpu-lost": ("the bus has fallen behind", "GPU reset completed"),
    "gpu-memory": ("Memory: 10.92GiB",),
    "gpu-memory-used": ("Downloading 24.0 MB / 250.0 MB", "31021 MB"),
    "gpu-process": ("|  No running processes found   0MiB of it |",),
    "gpu-smi-error": ("ERROR! see above",),
    "gpu-throttled": ("        HW Slowdown                       : Not Active", "request throttled by API rate limit"),
    "gpu-unsupported-by-driver": ("option not supported by this compiler",),
    "gpus-listed": ("Num CPUs Available:  2",),
    "horovod-failed": ("Horovod has been built with NCCL support",),
    "host-memory-pressure": ("Allocation of 3612672000 bytes succeeded",),
    "host-out-of-memory": ("CUDA out of memory. Tried to allocate 2 GiB", "0 processes killed"),
    "import-failed": ("import error handling tests passed", "numpy 2.0 imported"),
    "input-bound": ("Your program is NOT input-bound because only 0.1% of the total step time",),
    "jax-version-conflict": ("jaxlib version 0.4.36",),
    "keras-backend": ("keras backend is set by KERAS_BACKEND",),
    "keras-backend-invalid": ("KERAS_BACKEND=jax",),
    "keras-version-conflict": ("Keras 3.15.1 on TensorFlow 2.21", "AttributeError: module 'numpy' has no attribute 'bool'"),
    "kernel-cache-unwritable": ("CUDA_CACHE_PATH=/tmp/cache",),
    "kernel-driver-absent": ("kernel driver 580.159.4 is running on this host",),
    "kernel-image-missing": ("kernel image 6.8.0-45 is available",),
    "kernel-module-failed": (
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "blacklist nouveau",
    ),
    "kernels-jit-compiled": ("TensorFlow was built with CUDA kernel binaries compatible with compute capability 9.0",),
    "killed": ("Killed 3 stale workers before start", "process exited with code 0", "Aborted the upload, retrying"),
    "legacy-api": (
        "WARNING: The name tf.Session is deprecated. Please use tf.compat.v1.Session instead.",
        "module 'tensorflow' has no attribute 'my_typo'",
    ),
    "libdevice-missing": ("found libdevice at /usr/local/cuda/nvvm/libdevice/libdevice.10.bc",),
    "library-corrupt": ("libcudnn.so.9: loaded", "video file too short"),
    "library-missing": (
        "Could not load library libnvrtc.so.12. Error: libnvrtc.so.12: cannot open shared object file: No such file",
        "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file",
        "W tf_tensorrt: TF-TRT Warning: Could not find TensorRT",
    ),
    "library-opened": ("successfully opened the door",),
    "locked-memory-limit": ("memlock unlimited",),
    "loss-not-finite": (
        "loss: 0.001 - info: finance",
        "INFO: loss information follows",
        "val_loss did not improve from inf",
        "grad_norm: nan_to_num applied",
        "Epoch 1: val_loss improved from inf to 0.41, saving model",
    ),
    "macos": ("Found metal detector data set",),
    "memory-growth-mixed": ("memory growth set on all GPUs",),
    "memory-growth-too-late": ("Physical devices: 2",),
    "mig-failed": ("MIG M. Disabled", "| GPU instance profiles: |"),
    "module-missing": ("no module is missing",),
    "multi-worker-fit-unsupported": ("PerReplica values: 2",),
    "nccl-failed": (
        "n1:1:2 [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
        "NCCL version 2.21.5+cuda12.4",
    ),
    "nccl-warning": ("n1:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 8",),
    "nccl-ready": ("gpu-3:91:402 [1] NCCL INFO Bootstrap : Using eth0:10.0.0.9<0>", "Init COMPLETE"),
    "gpu-shared-by-ranks": ("rank 0 and rank 1 are on CUDA devices 1000 and 2000",),
    "session-started": ("Started server with target: grpc://localhost:2222",),
    "gpu-memory-holders": (
        "GPU 0 has a total capacity of 47.50 GiB of which 7.00 MiB is free. Process 1 has 46.77 GiB memory in use. Of the allocated"
        " memory 45.13 GiB is allocated by PyTorch",
        "GPU 0 has a total capacity of 4.00 GiB of which 1.00 MiB is free. Including non-PyTorch memory, this process has 3.9 GiB",
    ),
    "gpu-memory-full": ("cuDevicePrimaryCtxRetain returned CUDA_ERROR_INVALID_DEVICE", "CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
    "replicas-diverged": (
        "checked: no weights differ between replicas",
        "weights match across ranks",
        "AssertionError: shapes differ between encoder and decoder",
    ),
    "gpus-requested": ("You requested gpu: [0]\n But your machine only has: []", "You requested gpu: [0, 1]"),
    "nvlink-down": ("GPU 0: NVLink link 2 enabled", "         Link 5: 26.562 GB/s", "NVLink training started"),
    "nvml-failed": (
        "NVML Not Supported",
        "pynvml.NVMLError_NotSupported: Not Supported",
        "NVML library doesn't have required functions.",
    ),
    "open-files-limit": ("opened 2 files",),
    "optional-library-missing": (
        "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file",
    ),
    "out-of-memory": (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 304.02MiB with freed_by_count=0. The caller indicates that this is not a failure, but",
        "RESOURCE_EXHAUSTED: Received message larger than max (5000000 vs. 4194304)",
        "Out of memory: Killed process 1 (python)",
    ),
    "pages-retired": ("        Pending Page Blacklist            : No",),
    "pcie-limited": (
        "pci 0000:04:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)",
        "Link Width\n Max : 16x\n Current : 16x",
    ),
    "peer-access-unavailable": ("peer access enabled between devices 0 and 1",),
    "pip-conflict": ("tensorflow 2.21.0 requires keras>=3.12.0",),
    "pip-no-matching-distribution": ("Collecting tensorflow==2.21.0",),
    "pip-python-mismatch": ("Python 3.12 is required",),
    "pip-wheel-unsupported": ("Downloading tensorflow-2.21.0-cp312-cp312-manylinux_2_27_x86_64.whl",),
    "placement-failed": ("device specification '/device:GPU:1' satisfied",),
    "precision-unsupported": (
        "INFO:tensorflow:Mixed precision compatibility check (mixed_float16): OK",
        "bf16 is supported",
        "using bfloat16",
    ),
    "ptx-unsupported": ("CUDA kernels will be jit-compiled from PTX",),
    "ptxas-failed": ("ptxas info    : 0 bytes gmem",),
    "ptxas-missing": (
        "I asm_compiler.cc:369] ptxas warning : Registers are spilled to local memory in function 'triton'",
        "W redzone_allocator.cc:312] Internal: Invoking ptxas not supported on Windows",
        "Modify $PATH to customize ptxas location.",
    ),
    "ptxas-too-old": ("using ptxas 12.5.82",),
    "replicas": ("The number of classes: 4",),
    "rocm": (
        "INFO: Unable to initialize backend 'rocm': NOT_FOUND: Could not find registered platform with name: \"rocm\"",
        "worship error",
    ),
    "row-remapping": (
        "    Remapped Rows\n        Correctable Error : 1\n        Uncorrectable Error : 0\n        Pending : No",
        "Row remapping complete",
    ),
    "shared-memory-exhausted": ("Filesystem /dev/shm 64G 1G 63G 2% /dev/shm", "torch_xla loaded"),
    "strategy-device-invisible": ("All devices are visible to TensorFlow",),
    "strategy-devices": ("Using default strategy",),
    "stated": ("make sure that the NVIDIA driver is not missing", "NVIDIA driver 580 installed"),
    "symbol-missing": ("debug symbols not found", "page '/x' not found"),
    "tensorflow-gpu-package": ("pip install tensorflow[and-cuda]", "Requirement already satisfied: tensorflow-gpu==2.10.1"),
    "tf-config-malformed": (
        "INFO:tensorflow:TF_CONFIG environment variable: {'cluster': {'worker': ['a:1']}, 'task': {'type': 'worker', 'index': 0}}",
    ),
    "thread-limit": ("started new thread", "pthread_create ok"),
    "tpu-failed": (
        "INFO:jax._src.xla_bridge:Unable to initialize backend 'tpu': INVALID_ARGUMENT: TpuPlatform is not available.",
        "INFO:jax._src.xla_bridge:Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file",
        "I tpu_api_dlsym_initializer.cc:121] Libtpu path is: /venv/libtpu/libtpu.so",
        "WARNING:jax._src.xla_bridge:No GPU/TPU found, falling back to CPU.",
    ),
    "traceback": ("raise RuntimeError(err_msg)", "UserWarning: deprecated", "ERROR: Could not find a version", "Error: exit"),
    "training-progress": (
        "Epoch 1/10",
        "INFO:tensorflow:global_step/sec: 0",
        "12/12 - 1s - 165ms/step - loss: nan",
        "  0%|          | 0/100 [00:00<?, ?it/s]",
    ),
    "windows": ("opening windows of 32 frames", "ratio a:b"),
    "windows-native": ("native Windows notepad",),
    "worker-address-in-use": ("Started server with target: grpc://127.0.0.1:23452",),
    "worker-unreachable": (
        "Coordination agent has successfully connected.",
        "failed to connect to all addresses; last error: ipv4:10.240.1.2:8470: Connection refused",
    ),
    "worker-version-skew": ("NCCL version 2.21.5+cuda12.4",),
    "wsl": (
        "Linux version 5.15.153.1-microsoft-standard-WSL2",
        "ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link",
    ),
    "xid": ('$ dmesg -T | grep -i "xid.*74\\|nvlink"', "Fluxid=12", "Xid errors: none"),
    "xla-compiled": ("XLA service 0x7f initialized for platform CUDA",),
    "xla-device": ("StreamExecutor device (0): Host, Default Version",),
    "wsl-inside": ("WSL is not installed", "Linux version 6.8.0-45-generic"),
    "gpu-on-bus": (
        "00:02.0 VGA compatible controller: Intel Corporation UHD Graphics",
        "01:00.1 Audio device: NVIDIA Corporation",
    ),
    "driver-hung": ("INFO: task kworker/u8:1:991 blocked for more than 120 seconds.", "nvidia-smi finished in 0.3 s"),
    "cuda-diagnostics": ("I cuda_diagnostics.cc:183] hostname: gpu-host",),
    "ecc-history": ("Aggregate\n    SRAM Uncorrectable : 0\n    DRAM Uncorrectable : 0", "Aggregate throughput : 12"),
    "xla-flag-unknown": ("XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda",),
}


@pytest.mark.parametrize(("kind", "text", "fields"), [(kind, *case) for kind, cases in MEANT.items() for case in cases])
def test_meant(kind: str, text: str, fields: dict[str, str]) -> None:
    assert_meant(kind, text, fields)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in NOT_MEANT.items() for text in texts])
def test_not_meant(kind: str, text: str) -> None:
    assert_not_meant(kind, text)


def test_every_kind_is_tried_twice_and_once_in_vain() -> None:
    kinds = {signature.kind for signature in KNOWN}
    assert kinds == MEANT.keys() == NOT_MEANT.keys()
    assert [kind for kind, cases in MEANT.items() if len(cases) < 2] == []


def test_words_are_plain_lower_case() -> None:
    assert [signature for signature in KNOWN if not signature.must or signature.must != signature.must.lower()] == []


def test_fields_are_strings() -> None:
    for cases in MEANT.values():
        for text, _ in cases:
            for event in events(text):
                assert all(isinstance(value, str) and value for value in event.fields.values()), event
