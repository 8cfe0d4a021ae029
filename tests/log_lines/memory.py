"""Memory that ran out: on the GPU, in the host, in /dev/shm, and the limits of the operating system.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
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
    "cpu-time-limit": (
        ("/var/spool/job: line 3: 1234 CPU time limit exceeded (core dumped) python train.py", {}),
        ("subprocess.CalledProcessError: Command 'python' died with <Signals.SIGXCPU: 24>.", {}),
    ),
    "file-size-limit": (
        ("OSError: [Errno 27] File too large: 'model.keras'", {}),
        ("zsh: file size limit exceeded  python train.py", {}),
    ),
    "locked-memory-limit": (
        ("libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes. This will severely limit memory registrations.", {}),
        ("ulimit: max locked memory (memlock) too low", {}),
    ),
    "memory-growth-mixed": (
        ("ValueError: Memory growth cannot differ between GPU devices", {}),
        ("memory growth needs to be the same across GPUs", {}),
    ),
    "memory-growth-too-late": (
        ("RuntimeError: Physical devices cannot be modified after being initialized", {}),
        ("RuntimeError: Virtual devices cannot be modified after being initialized", {}),
    ),
    "open-files-limit": (
        ("OSError: [Errno 24] Too many open files: '/data/x.tfrecord'", {}),
        ("RuntimeError: received 0 items of ancdata: too many open files", {}),
    ),
    "out-of-memory": (
        ("Non-OK-status: GpuLaunchKernel(FillKernel, blocks, size) status: Internal: out of memory", {"allocator": "cuda"}),
        ("InternalError: CUDA runtime implicit initialization on GPU:1 failed. Status: out of memory", {"allocator": "cuda"}),
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
    "shared-memory-exhausted": (
        (
            "RuntimeError: DataLoader worker (pid 41) is killed by signal: Bus error. It is possible that dataloader's workers are out",
            {},
        ),
        ("NCCL WARN Error while creating shared memory segment /dev/shm/nccl-abc (size 9637888)", {"path": "/dev/shm/nccl-abc"}),
        ("ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).", {}),
        ("OSError: [Errno 28] No space left on device: '/dev/shm/psm_1'", {}),
        # NCCL up to 2.9, which names the segment without its folder
        ("gpu2:2143:2561 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device", {}),
        (
            "gpu2:2143:2561 [1] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-1f-0-1-0"
            " (size 4460544)",
            {"path": "nccl-shm-recv-1f-0-1-0"},
        ),
    ),
    "thread-limit": (
        ("F env.cc:73] Check failed: ret == 0 (11 vs. 0)Thread tf_data creation via pthread_create() failed.", {}),
        ("RuntimeError: can't start new thread", {}),
        ("libgomp: Thread creation failed: Resource temporarily unavailable", {}),
        ("OpenBLAS blas_thread_init: pthread_create failed for thread 12 of 64: Resource temporarily unavailable", {}),
    ),
}

NOT_MEANT = {
    "allocation-retried": (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB\nCurrent allocation summary follows.",
    ),
    "host-memory-pressure": ("Allocation of 3612672000 bytes succeeded",),
    "host-out-of-memory": ("CUDA out of memory. Tried to allocate 2 GiB", "0 processes killed"),
    "cpu-time-limit": ("DUE TO TIME LIMIT: time limit exceeded",),
    "file-size-limit": ("413 Request Entity Too Large: file too large",),
    "locked-memory-limit": ("memlock unlimited",),
    "memory-growth-mixed": ("memory growth set on all GPUs",),
    "memory-growth-too-late": ("Physical devices: 2",),
    "gpu-memory-holders": (
        "GPU 0 has a total capacity of 47.50 GiB of which 7.00 MiB is free. Process 1 has 46.77 GiB memory in use. Of the allocated"
        " memory 45.13 GiB is allocated by PyTorch",
        "GPU 0 has a total capacity of 4.00 GiB of which 1.00 MiB is free. Including non-PyTorch memory, this process has 3.9 GiB",
    ),
    "gpu-memory-full": ("cuDevicePrimaryCtxRetain returned CUDA_ERROR_INVALID_DEVICE", "CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
    "open-files-limit": ("opened 2 files",),
    "out-of-memory": (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 304.02MiB with freed_by_count=0. The caller indicates that this is not a failure, but",
        "RESOURCE_EXHAUSTED: Received message larger than max (5000000 vs. 4194304)",
        "Out of memory: Killed process 1 (python)",
    ),
    "shared-memory-exhausted": (
        "Filesystem /dev/shm 64G 1G 63G 2% /dev/shm",
        "torch_xla loaded",
        "posix_fallocate failed : No space left on device: /data/train.tfrecord",  # a disk
        "NCCL INFO Channel 00 : 0[100000] -> 1[200000] via direct shared memory",
    ),
    "thread-limit": ("started new thread", "pthread_create ok"),
}
