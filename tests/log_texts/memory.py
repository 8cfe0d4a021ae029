"""Memory and limits: of the GPU, of the machine, of /dev/shm and of the process.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

SLURM_KILL = "slurmstepd: error: Job 8123 exceeded memory limit (626359956 > 512000000), being killed\nslurmstepd: error: Exceeded job memory limit\nslurmstepd: error: *** JOB 8123 ON node07 CANCELLED AT 2017-11-06T10:01:12 ***"
KERAS_BAR = "117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511"

STATS = """I tensorflow/core/common_runtime/bfc_allocator.cc:647] Stats:
        Limit:                  3542312550
        InUse:                  3542312448
        MaxInUse:               3542312448
        NumAllocs:                     500
        MaxAllocSize:           1207959552
        """
FULL_ROW = f"W tensorflow/core/common_runtime/bfc_allocator.cc:474] {'*' * 90}xxxxx_____"

NAMED = {
    "gpu-memory-exhausted": (
        # what the allocator prints of itself after a failure, without the line that names it
        f"I tensorflow/core/common_runtime/bfc_allocator.cc:645] Sum Total of in-use chunks: 3.30GiB\n{STATS}\n{FULL_ROW}",
        "I tsl/framework/bfc_allocator.cc:1004] total_region_allocated_bytes_: 1148427008 memory_limit_: 1843986432 available bytes: 0 curr_region_allocation_bytes_: 2147483648",
        "I tensorflow/tsl/framework/bfc_allocator.cc:1109] Total bytes in pool: 40231108608 memory_limit_: 40231108608 available bytes: 0 curr_region_allocation_bytes_: 80462217216",
        STATS,
        FULL_ROW,
        "I tsl/framework/bfc_allocator.cc:1039] BFCAllocator dump for GPU_1_bfc\nI tsl/framework/bfc_allocator.cc:1103] 4 Chunks of size 411041792 totalling 1.53GiB",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 47.50 GiB of which 7.00 MiB is free. Process 1 has 46.77 GiB memory in use. Of the allocated memory 45.13 GiB is allocated by PyTorch",
        "InternalError: Failed copying input tensor from CPU:0 to GPU:0 in order to run _EagerConst: Dst tensor is not initialized.",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Allocation (size=107374182400) would exceed memory (size=17179869184) :: #allocation7 [shape = 'u8[1]{0}', space=hbm, size = 0xffffffffffffffff]",
        'ResourceExhaustedError: Graph execution error:\n\nDetected at node model/dense/MatMul defined at (most recent call last):\n  File "train.py", line 12, in <module>\n  File "train.py", line 9, in main',
        "ResourceExhaustedError: Graph execution error:\nOOM when allocating tensor with shape[64,512,112,112] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 12.94 MiB is free.",
        "[rank2]: RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 2; 15.90 GiB total capacity; 14.93 GiB already allocated; 3.75 MiB free; 15.02 GiB reserved in total by PyTorch)",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.",
        "E tensorflow/stream_executor/cuda/cuda_driver.cc:825] failed to allocate 10.76G (11553800192 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\nAborted (core dumped)",
        "2024-05-05 05:05:05.5: W tensorflow/core/framework/op_kernel.cc:1827] OP_REQUIRES failed at conv_ops_impl.h:770 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[128,256,56,56]\ntensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node __wrapped__Conv2D}} OOM when allocating tensor",
        "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY",
        "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 3,221,225,472 bytes).",
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.98 GiB",
        "RuntimeError: MPS backend out of memory (MPS allocated: 17.24 GB, other allocations: 384.00 KB, max allowed: 18.13 GB).",
        "2024-01-01 [E:onnxruntime:, sequential_executor.cc:514 ExecuteKernel] bfc_arena.cc:376 Failed to allocate memory for requested buffer of size 2013265920",
        "Exception: OOM: ResourceExhausted: OOM when allocating tensor with shape[32,2048,2048]",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 4.00GiB (4294967296B) on device ordinal 0",
        """
        RuntimeError: CUDA error: out of memory
        CUDA kernel errors might be asynchronously reported
        """,
        "E0000 cuda_driver.cc] INTERNAL: Failed to allocate 2147483648 bytes for new constant",
        "[rank0]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.21 GiB (GPU 0; 79.15 GiB total capacity",
    ),
    "gpu-memory-held-by-others": (
        "name: GeForce GTX 1070 major: 6 minor: 1\ntotalMemory: 7.93GiB freeMemory: 90.12MiB\nE cuda_driver.cc:936] failed to allocate 90.12M (94500000 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY",
        "Internal: failed initializing StreamExecutor for CUDA device ordinal 1: Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory reported: 8513978368",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 10.75 GiB of which 9.00 MiB is free. Process 777 has 7.10 GiB memory in use. Including non-PyTorch memory, this process has 3.60 GiB memory in use.",
        "CUDA out of memory. Tried to allocate 64.00 MiB.\nGPU 0 has a total capacity of 40.00 GiB of which 5.00 MiB is free.\nProcess 11 has 18.00 GiB memory in use.\nProcess 12 has 21.00 GiB memory in use.",
        # nvidia-smi has no line for the memory as a whole on boards that share the host's
        "|    0   N/A  N/A      4242      C   python3                                    61440MiB |\nRuntimeError: CUDA error: out of memory",
    ),
    "memory-growth-too-late": (
        "RuntimeError: Physical devices cannot be modified after being initialized",
        "RuntimeError: Virtual devices cannot be modified after being initialized",
    ),
    "memory-growth-mixed": ("ValueError: Memory growth cannot differ between GPU devices",),
    "host-memory-exhausted": (
        f"I tsl/framework/bfc_allocator.cc:1039] BFCAllocator dump for gpu_host_bfc\nI tsl/framework/bfc_allocator.cc:1107] Sum Total of in-use chunks: 3.30GiB\n{STATS}",
        f"W tsl/framework/bfc_allocator.cc:485] Allocator (gpu_host_bfc) ran out of memory trying to allocate 2.00GiB (rounded to 2147483648)requested by op\n{FULL_ROW}",
        f"W tsl/framework/bfc_allocator.cc:485] Allocator (mklcpu) ran out of memory trying to allocate 2.00GiB (rounded to 2147483648)requested by op\n{FULL_ROW}",
        "E tensorflow/stream_executor/cuda/cuda_driver.cc:1000] failed to alloc 8589934592 bytes on host: CUDA_ERROR_UNKNOWN: unknown error",
        "E cuda_driver.cc:1032] could not allocate host memory of size: 4294967296: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "W ./tensorflow/core/common_runtime/gpu/gpu_host_allocator.h:44] could not allocate pinned host memory of size: 8589934592",
        "job.sh: line 9: 4711 Killed ./train",
        "dmesg: Memory cgroup out of memory: Killed process (python3) total-vm:9GB",
        "the kernel's OOM killer ended the worker",
        "[ 8123.456789] Out of memory: Killed process 23145 (python3) total-vm:91234564kB, anon-rss:64123456kB, file-rss:0kB",
        "Last State:     Terminated\n  Reason:       OOMKilled\n  Exit Code:    137",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=123.batch. Some of the step tasks have been OOM Killed.",
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 37.3 GiB for an array with shape (50000, 100000) and data type float64",
        "Memory cgroup out of memory: Killed process 991 (python) total-vm:1kB",
        "Warning  Evicted  kubelet  The node was low on resource: memory. Container main was using 31Gi.",
        "zsh: killed     python train.py",
        "OSError: [Errno 12] Cannot allocate memory",
        "Job 123 cancelled: slurmstepd: error: Exceeded job memory limit at some point.",
        """
        terminate called after throwing an instance of 'std::bad_alloc'
        what():  std::bad_alloc
        Aborted (core dumped)
        """,
        "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 51539607552 bytes.",
        "train.sh: line 12: 31337 Killed                  python train.py",
        "command terminated with exit code 137",
        """
        W tensorflow/tsl/framework/cpu_allocator_impl.cc:83] Allocation of 20737418240 exceeds 10% of free system memory.
        Killed
        """,
        # what a buffer still held is printed behind the end
        f"Epoch 2/5\n{SLURM_KILL}\n{KERAS_BAR}",
        "slurmstepd: error: Detected 1 oom-kill event(s) in step 77.batch cgroup.\nstep 450, loss: 0.42\nstep 460, loss: 0.41",
        "Memory cgroup out of memory: Killed process 991 (python3) total-vm:1kB\nstep 450, loss: 0.42",
        "srun: error: node07: task 0: Out Of Memory\nEpoch 3/10",
        f"./job.sh: line 9:  4711 Killed                  python train.py\n{KERAS_BAR}",
        # started again, and ended likewise
        f"{SLURM_KILL}\n+ srun python train.py --resume\nstep 450, loss: 0.42\n{SLURM_KILL}\nstep 900, loss: 0.31",
    ),
    "shared-memory-too-small": (
        "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
        "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-h4kqLz (size 9637888)\nNCCL WARN Call to posix_fallocate failed : No space left on device",
        "gpu2:2143:2561 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device\n"
        "gpu2:2143:2561 [1] NCCL INFO include/shm.h:41 -> 2",
        "gpu2:2143:2561 [1] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-1f-0-1-0 (size 4460544)\n"
        "gpu2:2143:2561 [1] NCCL INFO init.cc:840 -> 2\nInternalError: unhandled system error [Op:NcclAllReduce]",
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
        "RuntimeError: unable to write to file </torch_18692_1954506624>",
    ),
    "process-limit-too-low": (
        "terminate called after throwing an instance of 'std::system_error'\n  what():  Resource temporarily unavailable",
        "RuntimeError: received 0 items of ancdata",
        "RuntimeError: can't start new thread",
        "OpenBLAS blas_thread_init: pthread_create failed for thread 31 of 64: Resource temporarily unavailable",
        "OSError: [Errno 24] Too many open files: '/data/img_0999.jpg'",
        "libgomp: Thread creation failed: Resource temporarily unavailable",
        "tensorflow::Env: Check failed: ret == 0 (11 vs. 0)Thread tf_data_private_threadpool creation via pthread_create() failed.",
        "bash: fork: retry: Resource temporarily unavailable",
    ),
}

WARNED = {
    "gpu-memory-held-by-others": (
        "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 38 MB memory:  -> device: 0, name: Tesla T4, pci bus id: 0000:00:04.0, compute capability: 7.5",
    ),
}

NO_ERROR = (
    "earlyoom: OOM killer disabled.",
    # a GPU that shares the host's memory, and Apple's
    "Created TensorFlow device (/device:GPU:0 with 0 MB memory) -> physical PluggableDevice (device: 0, name: METAL, pci bus id: <undefined>)",
    "GPU 0 has a total capacity of 8.00 GiB of which 2.00 GiB is free. Process 4242 has 1.00 GiB memory in use.",
    "|    0   N/A  N/A      4242      C   python3                                    61440MiB |",
    f"W bfc_allocator.cc:290] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.02GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.\n{KERAS_BAR}",
    f"OOM when allocating tensor with shape[4096,4096], retrying with batch size 32\n{KERAS_BAR}",
    "java.lang.OutOfMemoryError: Java heap space",
    # started again after it, the run goes on
    f"{SLURM_KILL}\n+ srun python train.py --resume\nstep 450, loss: 0.42",
    f"Killed\nI external/local_xla/xla/tsl/cuda/cudart_stub.cc:32] Could not find cuda drivers on your machine, GPU will not be used.\n{KERAS_BAR}",
    f"Killed\nEpoch 1/20\n{KERAS_BAR}\nEpoch 2/20",
    "[ERROR] failed (exitcode: -9) local_rank: 2 (pid: 9)\n[INFO] [default] Starting worker group\nstep 450, loss: 0.42",
    f"  Last State:  Terminated\n    Reason:    OOMKilled\n    Exit Code: 137\n{KERAS_BAR}",
    "slurmstepd: error: Exceeded job memory limit\n" + "".join(f"row {number}\n" for number in range(600)) + KERAS_BAR,
    # the program made do with less
    f"I bfc_allocator.cc:645] Sum Total of in-use chunks: 3.30GiB\n{STATS}\n{FULL_ROW}\n{KERAS_BAR}",
    f"worker 3 exited with code 137; respawning\n{KERAS_BAR}",
    # another program's end
    f"Out of memory: Killed process 4242 (chrome) total-vm:1kB\n{KERAS_BAR}",
    f"subprocess.CalledProcessError: Command 'ffmpeg' died with <Signals.SIGKILL: 9>.\n{KERAS_BAR}",
    "[   10.1] python3 invoked by user, memory cgroup stats: anon 12kB",
)

QUIET = (
    # rows of asterisks, limits and chunks of others
    f"INFO:root: {'*' * 100}",
    f"I0102 10:00:00.000000 1 train.py:12] {'*' * 100}",
    "Limit:                  3542312550\nInUse:                  1024",
    "stored 4 Chunks of size 4096 totalling 16 KiB",
    "I tensorflow/core/common_runtime/bfc_allocator.cc:266] Creating new BFCAllocator named: GPU_0_bfc",
)
