"""Logs of programs that end early: memory that others hold, limits, TensorFlow 1 under TensorFlow 2, kernels and crashes."""

import pytest
from one_rule import assert_named, told_by

from gpucheck.model import Severity

NAMED = [
    # -- memory of the GPU that somebody else has --
    ("gpu-memory-held-by-others", "name: GeForce GTX 1070 major: 6 minor: 1\ntotalMemory: 7.93GiB freeMemory: 90.12MiB\nE cuda_driver.cc:936] failed to allocate 90.12M (94500000 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY"),
    ("gpu-memory-held-by-others", "Internal: failed initializing StreamExecutor for CUDA device ordinal 1: Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory reported: 8513978368"),
    ("gpu-memory-held-by-others", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 10.75 GiB of which 9.00 MiB is free. Process 777 has 7.10 GiB memory in use. Including non-PyTorch memory, this process has 3.60 GiB memory in use."),
    ("gpu-memory-held-by-others", "CUDA out of memory. Tried to allocate 64.00 MiB.\nGPU 0 has a total capacity of 40.00 GiB of which 5.00 MiB is free.\nProcess 11 has 18.00 GiB memory in use.\nProcess 12 has 21.00 GiB memory in use."),
    # nvidia-smi has no line for the memory as a whole on boards that share the host's
    ("gpu-memory-held-by-others", "|    0   N/A  N/A      4242      C   python3                                    61440MiB |\nRuntimeError: CUDA error: out of memory"),
    ("gpu-memory-exhausted", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 47.50 GiB of which 7.00 MiB is free. Process 1 has 46.77 GiB memory in use. Of the allocated memory 45.13 GiB is allocated by PyTorch"),
    ("gpu-memory-exhausted", "InternalError: Failed copying input tensor from CPU:0 to GPU:0 in order to run _EagerConst: Dst tensor is not initialized."),
    ("gpu-memory-exhausted", "XlaRuntimeError: RESOURCE_EXHAUSTED: Allocation (size=107374182400) would exceed memory (size=17179869184) :: #allocation7 [shape = 'u8[1]{0}', space=hbm, size = 0xffffffffffffffff]"),
    # -- memory of the host --
    ("gpu-memory-exhausted", "ResourceExhaustedError: Graph execution error:\n\nDetected at node model/dense/MatMul defined at (most recent call last):\n  File \"train.py\", line 12, in <module>\n  File \"train.py\", line 9, in main"),
    ("libdevice-missing", "tensorflow.python.framework.errors_impl.UnknownError: JIT compilation failed. [Op:Rsqrt]"),
    ("host-memory-exhausted", "E tensorflow/stream_executor/cuda/cuda_driver.cc:1000] failed to alloc 8589934592 bytes on host: CUDA_ERROR_UNKNOWN: unknown error"),
    ("host-memory-exhausted", "E cuda_driver.cc:1032] could not allocate host memory of size: 4294967296: CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
    ("host-memory-exhausted", "W ./tensorflow/core/common_runtime/gpu/gpu_host_allocator.h:44] could not allocate pinned host memory of size: 8589934592"),
    ("host-memory-exhausted", "job.sh: line 9: 4711 Killed ./train"),
    ("host-memory-exhausted", "dmesg: Memory cgroup out of memory: Killed process (python3) total-vm:9GB"),
    ("host-memory-exhausted", "the kernel's OOM killer ended the worker"),
    # -- limits --
    ("process-limit-too-low", "terminate called after throwing an instance of 'std::system_error'\n  what():  Resource temporarily unavailable"),
    ("process-limit-too-low", "RuntimeError: received 0 items of ancdata"),
    # -- XLA's tools --
    ("gpu-too-new", "RuntimeError: Triton compilation failed\n  ptxas fatal: Unsupported .target 'sm_121'"),
    # -- numbers, the board --
    ("loss-not-finite", "Warning: NaN or Inf found in input tensor."),
    ("loss-not-finite", "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.02}"),
    ("ecc-errors", "ecc.errors.uncorrected.volatile.total\n7"),
    ("cudnn-init-failed", "InternalError: cuDNN launch failure : input shape ([32,64,28,28])"),
    # -- what no other page names --
    ("training-failed", "AttributeError: module 'tensorflow' has no attribute 'ConfigProto'"),
    ("training-failed", "F device_event_mgr.cc:223] Unexpected Event status: 1\nE cuda_event.cc:30] Error polling for event status: failed to query event: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"),
    ("training-crashed", "train.sh: line 12:  4711 Segmentation fault      (core dumped) python train.py"),
]  # fmt: skip

ONLY_WARNED = [
    ("libdevice-missing", "Searched for CUDA in the following directories:\n  ./cuda_sdk_lib\n  /usr/local/cuda"),
    ("cpu-fallback", "UnimplementedError:  The Conv2D op currently only supports the NHWC tensor format on the CPU. The op was given the format: NCHW"),
    ("gpu-memory-held-by-others", "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 38 MB memory:  -> device: 0, name: Tesla T4, pci bus id: 0000:00:04.0, compute capability: 7.5"),
]  # fmt: skip

QUIET = [
    "Uncorrectable Error               : 0",
    "ecc.errors.uncorrected.volatile.total, ecc.errors.uncorrected.aggregate.total\n0, 12",
    "timestamp, name, clocks_throttle_reasons.hw_slowdown, clocks_throttle_reasons.sw_power_cap\n2024/01/01 00:00:00.000, NVIDIA A100, Not Active, Active",
    "Gradient overflow. Skipping step\nLoss scaler reducing loss scale to 32768.0",
    "Warning: NaN or Inf found in input tensor.\nstep 12 loss 0.9",
    "earlyoom: OOM killer disabled.",
    # a GPU that shares the host's memory, and Apple's
    "Created TensorFlow device (/device:GPU:0 with 0 MB memory) -> physical PluggableDevice (device: 0, name: METAL, pci bus id: <undefined>)",
    "GPU 0 has a total capacity of 8.00 GiB of which 2.00 GiB is free. Process 4242 has 1.00 GiB memory in use.",
    "|    0   N/A  N/A      4242      C   python3                                    61440MiB |",
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


def test_a_crash_is_only_told_where_nothing_else_is():
    text = "ResourceExhaustedError: OOM when allocating tensor with shape[64,512,112,112]\nSegmentation fault (core dumped)"
    assert "training-crashed" not in [item.code for item in told_by(text)]


def test_a_removed_name_comes_with_what_took_its_place():
    (removed,) = told_by("AttributeError: module 'tensorflow' has no attribute 'set_random_seed'")
    assert "tf.random.set_seed" in removed.fix[0].text
    imported = next(
        item for item in told_by("ModuleNotFoundError: No module named 'tensorflow.contrib'") if not item.explained_by
    )
    assert "tf_keras" in imported.fix[0].text


def test_a_ptxas_that_is_too_old_is_not_said_to_be_absent():
    text = "ptxas application ptx input, line 9; fatal   : Unsupported .version 8.7; current version is '8.4'"
    (too_old,) = (item for item in told_by(text) if item.code == "ptxas-missing")
    assert too_old.summary == "ptxas, with which XLA compiles for the GPU, is too old: it reads PTX 8.4, not 8.7."
