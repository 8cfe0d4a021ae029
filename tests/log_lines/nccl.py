"""NCCL and peer access between GPUs.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
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
    "peer-access-unavailable": (
        ("transport/shm.cc:590 NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'", {}),
        ("W gpu_device.cc: failed to enable peer access from 0x55 to 0x56: CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", {}),
    ),
    "worker-version-skew": (
        ("n1:1:2 [0] bootstrap.cc:55 NCCL WARN Bootstrap : mismatch in NCCL version between ranks", {}),
        ("n1:1:2 [0] NCCL WARN Mismatched NCCL version detected : rank 0 version 21605 rank 1 version 21403", {}),
    ),
    "peer-access-disabled": (
        ("gpu01:4121:4188 [0] NCCL INFO P2P is disabled between connected GPUs 1 and 0. You can repress this message with", {}),
        ("NCCL INFO Could not enable P2P between dev 1(=2000) and dev 0(=1000)", {}),
    ),
}

NOT_MEANT = {
    "nccl-failed": (
        "n1:1:2 [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
        "NCCL version 2.21.5+cuda12.4",
    ),
    "nccl-warning": ("n1:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 8",),
    "nccl-ready": ("gpu-3:91:402 [1] NCCL INFO Bootstrap : Using eth0:10.0.0.9<0>", "Init COMPLETE"),
    "gpu-shared-by-ranks": ("rank 0 and rank 1 are on CUDA devices 1000 and 2000",),
    "peer-access-unavailable": ("peer access enabled between devices 0 and 1",),
    "worker-version-skew": ("NCCL version 2.21.5+cuda12.4",),
    "peer-access-disabled": ("gpu01:4121:4188 [0] NCCL INFO NCCL_P2P_LEVEL set by environment to NVL", "P2P is enabled"),
}
