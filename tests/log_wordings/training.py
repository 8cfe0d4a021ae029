"""What stands in the way of training, as notes, tables and other languages put it: a code or a name amid words nobody can foresee."""

# kind -> (line, fields that must be among the event's), ...
MEANT = {
    # -- memory --
    "out-of-memory": (
        ("bfc_allocator.cc:275] Allocator (GPU_1_bfc) ran out of memory trying to allocate", {"device": "GPU:1"}),
        ("- the `Allocator ran out of memory trying to allocate 1.50GiB` lines", {"bytes": str(3 << 29)}),
        ("**症状**: `RuntimeError: CUDA out of memory`", {"allocator": "gpu"}),
        ("ValueError... OOM when allocating tensor", {}),
        ("### 错误3: 显存不足", {"allocator": "gpu"}),
        ("GPU内存不足（OOM）", {"allocator": "gpu"}),
        ("エラー: GPUメモリ不足", {"allocator": "gpu"}),
        ("오류: GPU 메모리 부족", {"allocator": "gpu"}),
    ),
    "shared-memory-exhausted": (
        ('I see "RuntimeError: DataLoader worker (pid 77) is killed by signal"', {}),
        ("RuntimeError: DataLoader worker (pid 78) is killed by signal: ", {}),
    ),
    "killed": (("    Reason:       Error\n    Exit Code:    137", {"signal": "SIGKILL"}),),
    "cudnn-failed": (
        ("# to avoid: Could not create cuDNN handle...", {}),
        ("If you get ``failed to get convolution algorithm``, see below", {}),
        ("环境报错-RuntimeError: CuDNN error: CUDNN_STATUS_SUCCESS", {"status": "CUDNN_STATUS_SUCCESS"}),
    ),
    # -- numbers --
    "loss-not-finite": (
        ("title: 训练loss变成nan值", {"value": "nan"}),
        ("**Problem**: Loss becomes NaN after few steps", {"value": "nan"}),
        ("the generator loss goes to inf", {"value": "inf"}),
    ),
    "cuda-error": (("errors_impl.InternalError: GPU sync failed", {"code": "719"}),),
    "ecc-count": (("GPU 3 SRAM Volatile Uncorrectable Detected: 12, Threshold: 1", {"count": "12"}),),
    "ecc-uncorrectable": (('"error_code": "DCGM_FR_FAULTY_MEMORY",', {}), ("DCGM reports DCGM_FR_VOLATILE_DBE_DETECTED", {})),
    # -- speed --
    "pcie-limited": (
        ("- the slot says `Width x8 (downgraded)`", {"width": "8"}),
        ("| RTX 3080 | **2.5 GT/s ×4** | 16.0 GT/s ×16 |", {"width": "4", "width_max": "16"}),
        ("The PCIe link runs at x8 instead of x16", {"width": "8", "width_max": "16"}),
        ("dmesg: 31.5 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at", {"width": "4"}),
        ("name, pcie.link.width.current, pcie.link.width.max\nTesla T4, 8, 16", {"width": "8", "width_max": "16"}),
    ),
    "gpu-throttled": (
        ("**Cause**: Thermal throttling GPU après lot 2", {"reason": "thermal"}),
        ("GPU 3 thermal throttling since noon", {"reason": "thermal"}),
        ("GPU过热降频", {"reason": "thermal"}),
        ("発生: GPUの熱スロットリング", {"reason": "thermal"}),
        ('Error: "DCGM_FR_CLOCK_THROTTLE_POWER"', {"reason": "power"}),
    ),
    "input-bound": (
        ("GPU利用率低：数据加载是瓶颈。", {}),
        ("- data loading is the bottleneck: 12 % utilization", {}),
        ("  - I/O bound, not compute bound", {}),
    ),
    "cpu-fallback": (("WARNING: no GPU detected, will be using CPU", {"op": "all"}),),
    # -- several GPUs and machines --
    "gpu-lost": (
        ("`Unable to determine the device handle for GPU0`, sagt es", {}),
        ('| "Unable to determine the device handle for GPU…" | restart |', {}),
    ),
    "cpu-build": (("### Error: No OpKernel was registered to support Op 'CudnnRNN'", {}),),
    "gpu-init-failed": (("NVRM: GPU0 RmInitAdapter: Cannot initialize GSP firmware RM", {}),),
    "gpu-smi-error": (("WARNING: infoROM is corrupted at gpu 0000:00:05.0", {}),),
    "gpus-listed": (
        ("But your machine only has: []", {"count": "0"}),
        ("this machine only has: ['/cpu:0']. Try", {"count": "0"}),
    ),
    "nccl-failed": (
        ("RuntimeError: NCCL error", {}),
        ("NCCL initialization failed", {}),
        ("InvalidArgumentError: No OpKernel was registered to support Op 'NcclAllReduce' used by node", {}),
        ("建连失败： `ibv_modify_qp failed with 110 Connection timed out, dev mlx5_1`", {}),
    ),
    "nvlink-down": (("DCGM_FR_NVLINK_DOWN on link 3", {}),),
    "fabric-not-ready": (("| **CUDA Error 802** | no fabric |", {}), ("DCGM_FR_FABRIC_PROBE_STATE: InProgress", {})),
    "peer-access-unavailable": (
        ("| P2P | `nvidia-smi topo -p2p rw` = **CNS** everywhere |", {}),
        ("`can_device_access_peer(0, 1)` -> False", {}),
    ),
    "mig-failed": (
        ("Unable to destroy GPU instance ID  5 from GPU  1: In use by another client", {}),
        ("MIG mode is enabled but no MIG instances were created", {}),
    ),
    "worker-unreachable": (
        ('卡在 "CreateSession still waiting for response"', {}),
        ("客户端看到 `UNAVAILABLE: Socket closed`。", {}),
        ('UNKNOWN:Error received from peer  {grpc_message:"Socket closed", grpc_status:14}', {}),
        ('status = StatusCode.UNAVAILABLE\n\tdetails = "Connection reset by peer"', {}),
    ),
    # -- XLA and TPUs --
    "libdevice-missing": (("| `libdevice.10.bc not found` | install nvcc |", {}),),
    "ptxas-too-old": (("Unknown compute capability 12.1. Defaulting to telling LLVM", {"target": "12.1"}),),
    "tpu-failed": (
        ('logs show "TPU not found"', {"reason": "not-found"}),
        ("RuntimeError: No accelerator found. Please run on a TPU or GPU.", {"reason": "not-found"}),
        ("TPU backend initialization is taking more than 60.0 seconds.", {"reason": "unreachable"}),
    ),
}

# kind -> lines close by
NOT_MEANT = {
    "out-of-memory": ("若显存不足，可减小 batch size", "to avoid CUDA out of memory, lower it", "显存 16 GB"),
    "shared-memory-exhausted": ("DataLoader worker (pid 7) is killed by signal: Segmentation fault.",),
    "cudnn-failed": ("returned CUDNN_STATUS_SUCCESS",),
    "loss-not-finite": ("the loss becomes nanometers", "loss goes to 0.31"),
    "ecc-count": ("ECC Volatile Uncorrectable Errors: 0", "| ECC Volatile Uncorrectable Errors | Yes | 1 |"),
    "nccl-failed": (
        "Call to ibv_modify_qp failed with 110 Connection timed out, retrying 1/3 after 5 msec",
        "an NCCL error handler",
    ),
    "cpu-build": (
        "No OpKernel was registered to support Op 'ListDiff' with these attrs.",
        "No OpKernel was registered to support Op 'CudnnRNN' with these attrs. Registered kernels:\n device='GPU'; T in [DT_FLOAT]",
    ),
    "gpu-init-failed": ("RmInitAdapter succeeded",),
    "ecc-uncorrectable": ("DCGM_FR_OK", "DCGM_FR_INTERNAL"),
    "pcie-limited": (
        "LnkSta: Speed 2.5GT/s (downgraded), Width x16",
        "| GPU | 2.5 GT/s ×16 | 16.0 GT/s ×16 |",
        "pcie.link.width.current, pcie.link.width.max\n16, 16",
        "nvidia-smi --query-gpu=pcie.link.width.current, pcie.link.width.max --format=csv",
        "63.008 Gb/s available PCIe bandwidth (8.0 GT/s PCIe x8 link)",
    ),
    "gpu-throttled": ("✅ Pas de thermal throttling GPU", "no thermal throttling of the GPU", "GPU没有过热降频"),
    "input-bound": (
        "If data loading is the bottleneck, add workers",
        "如果数据加载是瓶颈，增加线程",
        "I/O-bound tasks belong in threads",
    ),
    "gpu-lost": ("Unable to determine the device handle for GPU 0000:01:00.0: Not Found",),
    "gpus-listed": ("But your machine only has: [0]",),
    "fabric-not-ready": ("CUDA error 801", "cuda error 802.1"),
    "peer-access-unavailable": ("`nvidia-smi topo -p2p rw` reports OK", "can_device_access_peer(0, 1) -> True"),
    "libdevice-missing": ("libdevice.10.bc found",),
    "tpu-failed": ("Coral TPU not found", "No accelerator found, the CPU it is"),
    "cpu-fallback": ("no GPU was used",),
    "worker-unreachable": ("UNAVAILABLE: Socket closed, grpc://10.0.0.2:8470",),
}
