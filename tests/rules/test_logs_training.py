"""Logs about memory, speed, numbers and TPUs: as TensorFlow, Keras, JAX, PyTorch, the kernel and schedulers put them."""

import pytest
from one_rule import assert_named, told_by

from gpucheck.model import Severity

KERAS_BAR = "117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511"
CREATED = (
    "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: Tesla T4,"
    " pci bus id: 0000:00:04.0, compute capability: 7.5"
)

NAMED = [
    # -- the GPU's memory --
    ("gpu-memory-exhausted", "ResourceExhaustedError: Graph execution error:\nOOM when allocating tensor with shape[64,512,112,112] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"),
    ("gpu-memory-exhausted", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 12.94 MiB is free."),
    ("gpu-memory-exhausted", "[rank2]: RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 2; 15.90 GiB total capacity; 14.93 GiB already allocated; 3.75 MiB free; 15.02 GiB reserved in total by PyTorch)"),
    ("gpu-memory-exhausted", "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes."),
    ("gpu-memory-exhausted", "E tensorflow/stream_executor/cuda/cuda_driver.cc:825] failed to allocate 10.76G (11553800192 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\nAborted (core dumped)"),
    ("gpu-memory-exhausted", "2024-05-05 05:05:05.5: W tensorflow/core/framework/op_kernel.cc:1827] OP_REQUIRES failed at conv_ops_impl.h:770 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[128,256,56,56]\ntensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node __wrapped__Conv2D}} OOM when allocating tensor"),
    ("gpu-memory-exhausted", "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"),
    ("gpu-memory-exhausted", "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 3,221,225,472 bytes)."),
    ("gpu-memory-exhausted", "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.98 GiB"),
    ("gpu-memory-exhausted", "RuntimeError: MPS backend out of memory (MPS allocated: 17.24 GB, other allocations: 384.00 KB, max allowed: 18.13 GB)."),
    ("gpu-memory-exhausted", "2024-01-01 [E:onnxruntime:, sequential_executor.cc:514 ExecuteKernel] bfc_arena.cc:376 Failed to allocate memory for requested buffer of size 2013265920"),
    ("cublas-init-failed", "E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED\nInternalError: Blas GEMM launch failed : a.shape=(32, 784), b.shape=(784, 128), m=32, n=128, k=784"),
    ("cublas-init-failed", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ("cudnn-init-failed", "E tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\nUnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize"),
    ("cudnn-init-failed", "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"),
    ("memory-growth-too-late", "RuntimeError: Physical devices cannot be modified after being initialized"),
    ("memory-growth-too-late", "RuntimeError: Virtual devices cannot be modified after being initialized"),
    ("memory-growth-mixed", "ValueError: Memory growth cannot differ between GPU devices"),
    # -- the machine's memory --
    ("host-memory-exhausted", "[ 8123.456789] Out of memory: Killed process 23145 (python3) total-vm:91234564kB, anon-rss:64123456kB, file-rss:0kB"),
    ("host-memory-exhausted", "Last State:     Terminated\n  Reason:       OOMKilled\n  Exit Code:    137"),
    ("host-memory-exhausted", "slurmstepd: error: Detected 1 oom_kill event in StepId=123.batch. Some of the step tasks have been OOM Killed."),
    ("host-memory-exhausted", "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 37.3 GiB for an array with shape (50000, 100000) and data type float64"),
    ("host-memory-exhausted", "Memory cgroup out of memory: Killed process 991 (python) total-vm:1kB"),
    ("host-memory-exhausted", "Warning  Evicted  kubelet  The node was low on resource: memory. Container main was using 31Gi."),
    ("host-memory-exhausted", "zsh: killed     python train.py"),
    ("host-memory-exhausted", "OSError: [Errno 12] Cannot allocate memory"),
    ("shared-memory-too-small", "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit."),
    ("shared-memory-too-small", "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-h4kqLz (size 9637888)\nNCCL WARN Call to posix_fallocate failed : No space left on device"),
    ("process-limit-too-low", "RuntimeError: can't start new thread"),
    ("process-limit-too-low", "OpenBLAS blas_thread_init: pthread_create failed for thread 31 of 64: Resource temporarily unavailable"),
    ("process-limit-too-low", "OSError: [Errno 24] Too many open files: '/data/img_0999.jpg'"),
    # -- numbers --
    ("loss-not-finite", "Epoch 3/10\n469/469 [==============================] - 2s 4ms/step - loss: nan - accuracy: 0.0987"),
    ("loss-not-finite", "{'loss': nan, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.33}"),
    ("loss-not-finite", "step 1200 | train_loss=inf | lr 3e-4"),
    ("loss-not-finite", "tensorflow.python.framework.errors_impl.InvalidArgumentError: Detected Infinity or NaN in output 0 of graph op \"Log\" (# outputs: 1). : Tensor had NaN values"),
    ("loss-not-finite", "ERROR:tensorflow:Model diverged with loss = NaN.\ntensorflow.python.training.basic_session_run_hooks.NanLossDuringTrainingError: NaN loss during training."),
    ("loss-not-finite", "Batch 12: Invalid loss, terminating training"),
    # -- TPUs --
    ("tpu-not-found", "ValueError: Please provide a TPU Name to connect to."),
    ("tpu-not-found", "KeyError: 'COLAB_TPU_ADDR'"),
    ("tpu-busy", "RuntimeError: Unable to initialize backend 'tpu': ABORTED: The TPU is already in use by process with pid 39211. Not attempting to load libtpu.so in this process."),
    ("tpu-busy", "Internal error when accessing libtpu multi-process lockfile. Run \"$ sudo rm /tmp/libtpu_lockfile\"."),
    ("tpu-unreachable", "tensorflow.python.framework.errors_impl.UnavailableError: failed to connect to all addresses; last error: UNKNOWN: ipv4:10.2.3.4:8470: Failed to connect to remote host: Connection refused"),
    ("tpu-version-mismatch", "RuntimeError: Unexpected PJRT_Client_Create_Args size: expected 64, got 48. Check installed software versions."),
    ("tpu-runtime-missing", "ModuleNotFoundError: No module named 'libtpu'"),
    # -- several GPUs and workers --
    ("nccl-failed", "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1275, internal error, NCCL version 2.14.3\nncclInternalError: Internal check failed."),
    ("nccl-failed", "tensorflow.python.framework.errors_impl.InternalError: NCCL: unhandled cuda error. Set NCCL_DEBUG=WARN for detail. [Op:CollectiveReduceV2]"),
    ("tf-config-malformed", "json.decoder.JSONDecodeError: Expecting ',' delimiter\nFile tfconfig_cluster_resolver.py\nValueError: TF_CONFIG could not be parsed"),
    ("worker-unreachable", "E tensorflow/core/common_runtime/base_collective_executor.cc:249] BaseCollectiveExecutor::StartAbort UNAVAILABLE: failed to connect to all addresses\nUnavailableError: Collective ops is aborted by: failed to connect to all addresses"),
    ("tpu-unreachable", "tensorflow.python.framework.errors_impl.DeadlineExceededError: failed to connect to all addresses (grpc://10.0.0.2:8470)"),
    ("tpu-unreachable", """
        UnavailableError: {{function_node __inference_train}} Socket closed
        Additional GRPC error information from remote target /job:worker/replica:0/task:0: ipv4:10.4.0.2:8470
        """),
    ("tpu-not-found", "tensorflow.python.framework.errors_impl.NotFoundError: 'ConfigureDistributedTPU' is neither a type of a primitive operation nor a name of a function registered in binary running on n-1."),
    ("tpu-not-found", "tensorflow.python.framework.errors_impl.InvalidArgumentError: No OpKernel was registered to support Op 'ConfigureDistributedTPU' used by {{node ConfigureDistributedTPU}}"),
    ("tpu-not-found", "RuntimeError: Unable to initialize backend 'tpu': NOT_FOUND: No TPU Platform available. (set JAX_PLATFORMS='' to automatically choose an available backend)"),
    ("tpu-busy", "E0000 RuntimeError: TPU initialization failed: open(/dev/accel0): Operation not permitted: Device or resource busy"),
    ("tpu-busy", "The TPU is already in use by process with pid 4242. Not attempting to load libtpu.so in this process."),
    ("tpu-runtime-missing", """
        Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory
        RuntimeError: Unable to initialize backend 'tpu'
        """),
    ("tpu-generation-unsupported", "ValueError: TPU7x is not supported by TensorFlow 2.19"),
    ("tpu-version-mismatch", "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: PJRT_Api version mismatch: framework PJRT API version 0.54 is older than plugin PJRT API version 0.67"),
    ("nccl-failed", "[E ProcessGroupNCCL.cpp:821] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=52, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1801234 milliseconds before timing out."),
    ("nccl-failed", "[0] misc/socket.cc:71 NCCL WARN socketProgress: Connection closed by remote peer 10.10.1.3<36138>\n[0] NCCL INFO init.cc:1402 -> 6"),
    ("nccl-failed", "net_ib.cc:17 NCCL WARN NET/IB : Got completion from peer 10.1.1.1<5592> with status=12 opcode=1 len=0 vendor err 129 (Send)"),
    ("nccl-failed", "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory"),
    ("nccl-failed", "RuntimeError: Some NCCL operations have failed or timed out."),
    ("tpu-busy", "libtpu.so already in used by another process. Not attempting to load libtpu.so in this process."),
    ("tpu-unreachable", "E0808 tpu_hal.cc:249] Failed to initialize TPU system with error: FAILED_PRECONDITION: Couldn't mmap"),
    ("tpu-unreachable", "DeadlineExceededError: Deadline Exceeded while connecting to grpc://10.2.3.4:8470"),
    ("worker-unreachable", "RendezvousConnectionError: The connection to the C10d store has failed."),
    ("worker-unreachable", "RuntimeError: [gloo/transport/tcp/pair.cc:525] Read error [10.0.0.1]:34567: Connection reset by peer"),
    ("worker-unreachable", "F client.h:80] Terminating process because the JAX distributed service detected fatal errors."),
    ("nccl-failed", "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error."),
    ("peer-access-unavailable", "RuntimeError: CUDA error: peer access is not supported between these two devices"),
    ("multi-worker-fit-unsupported", """
        ValueError: Attempt to convert a value (PerReplica:{
        0: <tf.Tensor>}) with an unsupported type (<class 'tensorflow.python.distribute.values.PerReplica'>) to a Tensor.
        """),
    ("worker-unreachable", "torch.distributed.DistNetworkError: The client socket has timed out after 600s while trying to connect to (10.0.0.1, 29500)."),
    ("worker-unreachable", "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect"),
    ("gpu-memory-exhausted", "Exception: OOM: ResourceExhausted: OOM when allocating tensor with shape[32,2048,2048]"),
    ("gpu-memory-exhausted", "XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 4.00GiB (4294967296B) on device ordinal 0"),
    ("gpu-memory-exhausted", """
        RuntimeError: CUDA error: out of memory
        CUDA kernel errors might be asynchronously reported
        """),
    ("gpu-memory-exhausted", "E0000 cuda_driver.cc] INTERNAL: Failed to allocate 2147483648 bytes for new constant"),
    ("gpu-memory-exhausted", "[rank0]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.21 GiB (GPU 0; 79.15 GiB total capacity"),
    ("host-memory-exhausted", "Job 123 cancelled: slurmstepd: error: Exceeded job memory limit at some point."),
    ("host-memory-exhausted", """
        terminate called after throwing an instance of 'std::bad_alloc'
        what():  std::bad_alloc
        Aborted (core dumped)
        """),
    ("host-memory-exhausted", "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 51539607552 bytes."),
    ("host-memory-exhausted", "train.sh: line 12: 31337 Killed                  python train.py"),
    ("host-memory-exhausted", "command terminated with exit code 137"),
    ("host-memory-exhausted", """
        W tensorflow/tsl/framework/cpu_allocator_impl.cc:83] Allocation of 20737418240 exceeds 10% of free system memory.
        Killed
        """),
    ("shared-memory-too-small", "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."),
    ("shared-memory-too-small", "RuntimeError: unable to write to file </torch_18692_1954506624>"),
    ("process-limit-too-low", "libgomp: Thread creation failed: Resource temporarily unavailable"),
    ("process-limit-too-low", "tensorflow::Env: Check failed: ret == 0 (11 vs. 0)Thread tf_data_private_threadpool creation via pthread_create() failed."),
    ("process-limit-too-low", "bash: fork: retry: Resource temporarily unavailable"),
    ("loss-not-finite", """
        Epoch 1/5
        12/500 ━━━━━━━━━━━━━━━━━━━━ 10s 21ms/step - accuracy: 0.0 - loss: nan
        """),
    ("loss-not-finite", "[2024-01-01 00:00:00] iter 300 loss NaN ppl inf"),
    ("loss-not-finite", "FloatingPointError: Loss became infinite or NaN at iteration=12!"),
    ("loss-not-finite", "{'train_loss': inf, 'epoch': 1}"),
    ("precision-unsupported", "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0"),
    ("precision-unsupported", "RuntimeError: \"LayerNormKernelImpl\" not implemented for 'Half'"),
    ("xla-flags-unknown", """
        2024: F external/xla/xla/parse_flags_from_env.cc:226] Unknown flag in XLA_FLAGS: --xla_gpu_cuda_data_dirs=/usr/local/cuda
        Aborted (core dumped)
        """),
]  # fmt: skip

ONLY_WARNED = [
    ("input-pipeline-bound", "Your program is HIGHLY input-bound because 78.3% of the total step time sampled is waiting for input."),
    ("precision-unsupported", "WARNING:tensorflow:Mixed precision compatibility check (mixed_float16): WARNING\nYour GPU may run slowly with dtype policy mixed_float16 because it does not have compute capability of at least 7.0."),
    ("gpu-throttled", "    Clocks Event Reasons\n        HW Thermal Slowdown               : Active"),
    ("pcie-link-degraded", "[    2.5] pci 0000:65:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:64:00.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)"),
    ("input-pipeline-bound", """
        WARNING:tensorflow:Your input ran out of data
        Profiler: Your program is HIGHLY input-bound because 97.0% of the total step time
        """),
    ("cpu-quota-too-low", "UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in current system is 2, which is smaller than what this DataLoader is going to create."),
    # a loss that stays where it is: in words, and as the numbers of a guess
    ("loss-not-falling", "### Q3: 训练时 loss 不下降\n1. 忘记 zero_grad()"),
    ("loss-not-falling", "\n".join(f"Epoch {epoch}/9\n32/32 [====] - 0s 2ms/step - loss: 0.6931 - accuracy: 0.5000" for epoch in (1, 2, 3))),
    ("gpu-lost", "+----+\nWARNING: infoROM is corrupted at gpu 0000:00:06.0"),
    ("input-pipeline-bound", "GPU利用率低：数据加载是瓶颈"),
    ("kernel-cache-unwritable", "W0000 Failed to create CUDA cache directory /root/.nv/ComputeCache: Read-only file system"),
]  # fmt: skip

QUIET = [
    f"W bfc_allocator.cc:290] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.02GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.\n{KERAS_BAR}",
    f"{CREATED}\n{KERAS_BAR}\nW local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    "    Clocks Event Reasons\n        Idle                              : Active\n        HW Thermal Slowdown               : Not Active\n        SW Power Cap : Active",
    "Epoch 1/2 - info: no nan, no inf found - loss: 0.69",
    f"OOM when allocating tensor with shape[4096,4096], retrying with batch size 32\n{KERAS_BAR}",
    # it leaves the guess behind
    "\n".join(f"32/32 [====] - 0s 2ms/step - loss: {loss} - accuracy: 0.5000" for loss in (0.6931, 0.6930, 0.6931, 0.5512)),
    "banana loss financing information: 3",
    "2024-01-01 INFO saved checkpoint; 0 errors, 0 failures",
    "java.lang.OutOfMemoryError: Java heap space",
    "[   10.1] python3 invoked by user, memory cgroup stats: anon 12kB",
    "WARNING:root:TPU not requested; running on CPU",
    """
        2024 INFO: retrying request, attempt 2 of 5
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        W tensorflow/core/data/root_dataset.cc:350] Optimization loop failed: CANCELLED: Operation was cancelled
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        W tensorflow/core/common_runtime/forward_type_inference.cc:332] Type inference failed. This indicates an invalid graph that escaped type checking.
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        E tensorflow/core/grappler/optimizers/meta_optimizer.cc:961] layout failed: INVALID_ARGUMENT: Size of values 0 does not match size of permutation 4 @ fanin shape
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    "I tensorflow/core/common_runtime/executor.cc:1197] [/device:CPU:0] (DEBUG INFO) Executor start aborting (this does not indicate an error and you can ignore this message): INVALID_ARGUMENT: You must feed a value for placeholder tensor",
    "W tensorflow/core/kernels/data/cache_dataset_ops.cc:854] The calling iterator did not fully read the dataset being cached.",
    """
        2023: W tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc: Loaded cuDNN version 8600
        Could not load library libcublasLt.so.12. Error: libcublasLt.so.12: cannot open shared object file: No such file or directory
        I0000 Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22 MB memory:  -> device: 0, name: NVIDIA A10, pci bus id: 0, compute capability: 8.6
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        Using device: cpu
        step 10 loss 2.1
        """,
    """
        | N/A   34C    P0    52W / 300W |      0MiB / 32510MiB |      0%      Default |
        Error rate 0.0
        """,
    """
        I0000 xla/pjrt: Unable to initialize backend 'cuda': CUDA backend not built
        step 100 loss 2.0
        """,
]  # fmt: skip


@pytest.mark.parametrize(("code", "text"), NAMED)
def test_the_cause_is_named(code, text):
    assert_named(code, text)


@pytest.mark.parametrize(("code", "text"), ONLY_WARNED)
def test_what_trains_all_the_same_is_a_warning(code, text):
    assert [(item.code, item.severity) for item in told_by(text)] == [(code, Severity.WARNING)]


@pytest.mark.parametrize("text", QUIET)
def test_what_is_harmless_or_over_is_no_error(text):
    assert [item.code for item in told_by(text) if item.severity is Severity.ERROR] == []
