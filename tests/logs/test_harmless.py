"""Lines that look bad and are not: each is told with its reason, counted, and never an alarm."""

import pytest

from gpucheck.logs.reading import HARMLESS, parse

LINES = [
    "I0000 00:00:1 7 port.cc:153] oneDNN custom operations are on. You may see slightly different numerical results",
    "2022-01-01 00:00:00.1: I tensorflow/core/platform/cpu_feature_guard.cc:151] This TensorFlow binary is optimized with oneAPI Deep Neural Network Library (oneDNN) to use AVX2",
    "2019-01-01 00:00:00.1: I cpu_feature_guard.cc:142] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA",
    "To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow with the appropriate compiler flags.",
    "E0000 00:00:1 5660 cuda_blas.cc:1407] Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS",
    "W0000 00:00:1 5660 computation_placer.cc:177] computation placer already registered. Please check linkage",
    "successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node",
    "could not open file to read NUMA node: /sys/bus/pci/devices/0000:01:00.0/numa_node\nYour kernel may have been built without NUMA support.",
    "W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT",
    "W dso_loader.cc:64] Could not load dynamic library 'libnvinfer_plugin.so.7'; dlerror: libnvinfer_plugin.so.7: cannot open shared object file",
    "dump_mlir_util.cc:269] disabling MLIR crash reproducer, set env var `MLIR_CRASH_REPRODUCER_DIRECTORY` to enable.",
    "\x1b[33mWARNING: All log messages before absl::InitializeLog() is called are written to STDERR\x1b[0m",
    "W gpu_bfc_allocator.cc:47] Overriding orig_value setting because the TF_FORCE_GPU_ALLOW_GROWTH environment variable is set.",
    "service.cc:153] XLA service 0x7f4be initialized for platform CUDA (this does not guarantee that XLA will be used). Devices:",
    "I cuda_diagnostics.cc:168] retrieving CUDA diagnostic information for host: laptop",
    "W cuda_executor.cc:1755] Failed to determine cuDNN version (Note that this is expected if the application doesn't link the cuDNN plugin): INTERNAL",
    "I cudart_stub.cc:29] Ignore above cudart dlerror if you do not have a GPU set up on your machine.",
    "W local_rendezvous.cc:412] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    "[[{{node IteratorGetNext}}]] Out of range: End of sequence",
    "W bfc_allocator.cc:296] Allocator (GPU_0_bfc) ran out of memory trying to allocate 304.02MiB. The caller indicates that this is not a failure",
    "I asm_compiler.cc:369] ptxas warning : Registers are spilled to local memory in function 'gemm', 20 bytes spill stores",
    "The NVIDIA driver's CUDA version is 12.2 which is older than the ptxas CUDA version (12.5.40).",
    "I gpu_timer.cc:114] Skipping the delay kernel, measurement accuracy will be reduced",
    "WARNING:tensorflow:AutoGraph could not transform <function f at 0x7f> and will run it as-is.",
    "INFO:jax._src.xla_bridge:Unable to initialize backend 'rocm': NOT_FOUND: Could not find registered platform",
    "node-1:1:1 [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
    "[W socket.cpp:697] [c10d] The client socket has failed to connect to [node]:12355 (errno: 97 - Address family not supported by protocol).",
    "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 8192.0",
    "MIOpen(HIP): Warning [IsEnoughWorkspace] [GetSolutionsFallback WTI] Solver <GemmFwdRest>, workspace required: 4096, provided ptr: 0 size: 0",
    "I0000 fork_posix.cc:77] Other threads are currently calling into gRPC, skipping fork() handlers",
    "/opt/p/mod.py:22: RuntimeWarning: os.fork() was called. os.fork() is incompatible with multithreaded code",
    "/opt/p/tensorflow/python/framework/dtypes.py:516: FutureWarning: Passing (type, 1) or '1type' as a synonym of type is deprecated",
    "WARNING:tensorflow:From train.py:3: foo (from tensorflow.python) is deprecated and will be removed in a future version.",
    "[    8.1] nvidia: module verification failed: signature and/or required key missing - tainting kernel",
    "        Idle                              : Active",
    "2023-05-01 10:00:00.1: I tensorflow/core/common_runtime/executor.cc:1197] [/device:CPU:0] (DEBUG INFO) Executor start aborting (this does not indicate an error and you can ignore this message): INVALID_ARGUMENT: You must feed a value for placeholder tensor 'Placeholder/_0'",
    "2023-05-01 10:00:00.1: E tensorflow/core/grappler/optimizers/meta_optimizer.cc:954] layout failed: INVALID_ARGUMENT: Size of values 0 does not match size of permutation 4 @ fanin shape inStatefulPartitionedCall/dropout/SelectV2-2-TransposeNHWCToNCHW-LayoutOptimizer",
    "2021-05-01 10:00:00.1: W tensorflow/core/grappler/optimizers/data/auto_shard.cc:784] AUTO sharding policy will apply DATA sharding policy as it failed to apply FILE sharding policy because of the following reason: Found an unshardable source dataset: name: \"TensorSliceDataset/_2\"",
    "gpu-1:88:90 [0] NCCL INFO Failed to open libibverbs.so[.1]",
]  # fmt: skip


@pytest.mark.parametrize("text", LINES)
def test_told_with_its_reason(text: str) -> None:
    log = parse(text.split("\n"), "test")
    assert log.harmless_lines == len(text.split("\n"))
    assert [(event.kind, event.line) for event in log.harmless] == [("harmless", 1)]
    assert len(log.harmless[0].fields["reason"]) > 20
    assert "\x1b" not in log.harmless[0].text
    assert log.suspects == ()
    assert {event.kind for event in log.events} <= {"optional-library-missing", "cpu-fallback", "allocation-retried"} | {
        "backend-unavailable", "driver-older-than-ptxas", "cuda-diagnostics", "xla-service",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: Unable to initialize backend 'rocm': NOT_FOUND: no platform",
        "Unable to initialize backend 'cuda': FAILED_PRECONDITION: No visible GPU devices.",
        "Local rendezvous is aborting with status: INTERNAL: Autotuner could not find any supported configs",
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB",
        "Clocks Event Reasons\n    HW Thermal Slowdown : Active",
        "The NUMA nodes were used",
        "Executor start aborting: INVALID_ARGUMENT: You must feed a value",
        "The page layout failed: INVALID_ARGUMENT: no such row",
        "AUTO sharding policy failed to apply DATA sharding policy",
        "gpu-1:88:90 [0] NCCL WARN NET/IB : Failed to open device mlx5_0",
        "[W socket.cpp:601] [c10d] The client socket has failed to connect to [node]:29500 (errno: 110 - Connection timed out).",
        "MIOpen(HIP): Error [Compile] 'hiprtcCompileProgram' failed",
    ],
)
def test_what_only_resembles_it_is_not(text: str) -> None:
    assert parse(text.split("\n"), "test").harmless_lines == 0


@pytest.mark.parametrize("name", ["remapper", "arithmetic_optimizer", "constant_folding", "model_pruner", "tfg_optimizer{}"])
def test_a_graph_that_stays_as_it_was_is_harmless(name: str) -> None:
    assert parse([f"E meta_optimizer.cc:801] {name} failed: Invalid argument: Subshape must have"], "test").harmless_lines == 1


def test_distinct_ones_are_kept_and_all_are_counted() -> None:
    log = parse([line.replace("\n", " ") for line in LINES] * 300, "test")
    assert log.harmless_lines == 300 * len(LINES)
    reasons = [event.fields["reason"] for event in log.harmless]
    assert len(set(reasons)) == len(reasons) <= HARMLESS
    assert [event.line for event in log.harmless] == sorted(event.line for event in log.harmless)


@pytest.mark.parametrize(
    "alarm",
    [
        "cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.",
        "cuda_driver.cc:268] failed call to cuInit: UNKNOWN ERROR (303)",
        "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0.",
    ],
)
def test_going_on_takes_an_alarm_back(alarm: str) -> None:
    assert parse([alarm], "test").harmless == ()
    log = parse([alarm, "9/9 ━━━━ 1s 20ms/step - loss: 0.5"], "test")
    assert [(event.line, log.harmless_lines) for event in log.harmless] == [(1, 1)]
    assert parse(["9/9 ━━━━ 1s 20ms/step - loss: 0.5", alarm], "test").harmless == ()
