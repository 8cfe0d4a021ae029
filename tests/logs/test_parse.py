"""The reader as a whole: streams, wrapped lines, bounds; and small logs from which a reader should know the cause."""

import random
import tracemalloc
from collections.abc import Iterator

import pytest

from gpucheck.logs.reading import KEPT, parse


def _kinds(text: str) -> list[str]:
    return [event.kind for event in parse(text.split("\n"), "test").events]


def test_events_name_their_line_and_cite_it() -> None:
    log = parse(
        ["hello\n", "\x1b[31mI0000 00:00:1.1 2 a.cc:1] Could not find cuda drivers on your machine\x1b[0m\n"], "train.log"
    )
    (event,) = log.events
    assert (log.source, log.lines) == ("train.log", 2)
    assert (event.kind, event.line) == ("cuda-drivers-not-found", 2)
    assert event.text == "I0000 00:00:1.1 2 a.cc:1] Could not find cuda drivers on your machine"


def test_an_empty_log() -> None:
    assert parse([], "nothing").events == ()
    assert parse([], "nothing").lines == 0


def test_a_wrapped_line_is_read_whole() -> None:
    text = (
        "#   2018-10-31 10:35:54.318150: I gpu_device.cc:1469] Ignoring visible gpu device (device: 1, name: Quadro K4000,\n"
        "#   pci bus id: 0000:08:00.0, compute capability: 3.0) with Cuda multiprocessor count: 4.\n"
        "#   The minimum required count is 8."
    )
    (event,) = parse(text.split("\n"), "notes").events
    assert event.fields["count"] == "4"
    assert event.fields["minimum"] == "8"


def test_a_line_with_a_head_is_no_continuation() -> None:
    text = "E0000 00:00:1.1 2 cuda_dnn.cc:4] Loaded runtime CuDNN library: 9.1.0\nI0000 00:00:1.2 2 x.cc:1] compiled with: 9.3.0"
    assert "cudnn-version-mismatch" not in _kinds(text)


def test_a_wrapped_line_at_the_seam_of_two_batches() -> None:
    filler = ["x" * 1000] * 262
    for shift in range(4):
        lines = [*filler[shift:], "Loaded runtime CuDNN library: 9.1.0", "   but source was compiled with: 9.3.0.", *filler]
        (event,) = parse(lines, "test").events
        assert (event.kind, event.line) == ("cudnn-version-mismatch", len(filler) - shift + 1)


def test_progress_bars_overwritten_in_place_keep_their_line_number() -> None:
    log = parse(["start", "1/9 - 1s 10ms/step - loss: 0.9\r2/9 - 1s 10ms/step - loss: nan\r", "end"], "test")
    assert [(event.kind, event.line) for event in log.events] == [("training-progress", 2), ("loss-not-finite", 2)]


def test_the_first_of_a_kind_and_the_last_are_kept() -> None:
    lines = [f"Step {step}: loss = {1 / (step + 1):.3f}" for step in range(5000)]
    steps = [int(event.fields["step"]) for event in parse(lines, "test").events]
    assert len(steps) == KEPT + 1
    assert steps[:KEPT] == list(range(KEPT))
    assert steps[-1] == 4999


def test_repetition_does_not_crowd_out_what_differs() -> None:
    same = ["NVRM: Xid (PCI:0000:65:00): 31, pid=7, MMU Fault"] * 500
    lines = [*same, "NVRM: Xid (PCI:0000:65:00): 79, pid=7, GPU has fallen off the bus.", *same]
    events = [event for event in parse(lines, "test").events if event.kind == "xid"]
    assert [event.fields["code"] for event in events] == ["31", "31", "79", "31"]
    assert events[-1].line == len(lines)


def test_numbers_that_are_the_message_are_no_repetition() -> None:
    lines = ["Xid=31 on Device=GPU-7"] * 100 + ["Xid=79 on Device=GPU-7"] + ["Xid=31 on Device=GPU-7"] * 100
    assert "79" in [event.fields["code"] for event in parse(lines, "test").events]


def test_an_event_belongs_to_the_line_it_begins_in() -> None:
    (event,) = parse(["about ptxas:", "Couldn't invoke ptxas --version"], "test").events
    assert event.line == 2


def test_one_event_of_a_kind_for_a_line() -> None:
    text = "RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[9] on /job:a/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"
    (event,) = parse([text], "test").events
    assert event.fields == {"device": "GPU:0", "allocator": "gpu"}


def _training(size: int) -> Iterator[str]:
    chance = random.Random(1)
    written = 0
    while written < size:
        step, loss = chance.randrange(10**6), chance.random()
        line = f"{chance.choice(['INFO - data -', 'worker', 'batch'])} step {step}: loss = {loss:.4f} ERROR-rate {loss:.3f} id {step:x} {'.' * 200}\n"
        written += len(line)
        yield line


def test_memory_is_flat_on_a_long_stream() -> None:
    parse(["warm up"], "test")
    tracemalloc.start()
    try:
        log = parse(_training(20 << 20), "stream")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert log.lines > 60_000
    assert peak < 8 << 20
    assert log.events[-1].line == log.lines


def test_one_endless_line() -> None:
    log = parse(["x" * (4 << 20) + " failed call to cuInit: CUDA_ERROR_NO_DEVICE " + "y" * (4 << 20)], "test")
    assert {(event.kind, event.line) for event in log.events} == {("cuinit-failed", 1)}


@pytest.mark.parametrize("before", [1990, 2010, 2030, 2047, 2048])
def test_a_message_on_the_seam_of_a_long_line(before: int) -> None:
    log = parse(["x" * before + " failed call to cuInit: CUDA_ERROR_NO_DEVICE " + "y" * 3000], "test")
    assert "100" in {event.fields.get("code") for event in log.events}  # the piece that was cut may say less


def test_binary_garbage_is_survived() -> None:
    noise = random.Random(2).randbytes(1 << 20)
    text = (noise + b"\nfailed call to cuInit: UNKNOWN ERROR (303)\n" + noise).decode("utf-8", "replace")
    assert "cuinit-failed" in _kinds(text)
    surrogates = (noise[:4096] + b"\nKilled process 7 (python)\n").decode("utf-8", "surrogateescape")
    assert "host-out-of-memory" in _kinds(surrogates)


def test_utf_16_from_powershell() -> None:
    text = "2026-01-01 10:00:00.1: E cuda_driver.cc:1] failed call to cuInit: UNKNOWN ERROR (100)\r\n".encode("utf-16").decode(
        "utf-8", "replace"
    )
    assert _kinds(text) == ["cuinit-failed"]


@pytest.mark.parametrize(
    "text",
    [
        "Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
        "computation_placer.cc:177] computation placer already registered. Please check linkage and avoid linking twice.",
        "successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node",
        "could not open file to read NUMA node: /sys/bus/pci/devices/0000:01:00.0/numa_node",
        "This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations.",
        "oneDNN custom operations are on. You may see slightly different numerical results due to floating-point round-off errors",
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
        "disabling MLIR crash reproducer, set env var `MLIR_CRASH_REPRODUCER_DIRECTORY` to enable.",
        "ptxas warning : Registers are spilled to local memory in function 'gemm_fusion_dot_1', 8 bytes spill stores",
        "Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
        "Overriding orig_value setting because the TF_FORCE_GPU_ALLOW_GROWTH environment variable is set.",
        "node-1:2577:2577 [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
        "UserWarning: `shuffle=True` was passed, but will be ignored since the data was provided as a tf.data.Dataset.",
        "Epoch 1: val_loss improved from inf to 0.41234, saving model to best.keras",
        "Not creating XLA devices, tf_xla_enable_xla_devices not set",
        "Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA",
        "Memory patch applied: M_TRIM_THRESHOLD=128 kb was set.",
        "XLA service 0x7fe40c084ac0 initialized for platform CUDA (this does not guarantee that XLA will be used). Devices:",
    ],
)
def test_harmless_lines_are_no_events(text: str) -> None:
    assert _kinds(f"E0000 00:00:1795191869.698545    9755 some_file.cc:52] {text}") == []
    assert _kinds(f"2026-11-20 17:28:29.082674: E tensorflow/some/file.cc:95] {text}") == []


_AGREE = "I0000 00:00:1.3 9 cuda_diagnostics.cc:284] kernel version seems to match DSO: 570.1.2"
_NO_DEVICE = "E0000 00:00:1.1 9 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_NO_DEVICE: no"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (  # a laptop without a GPU
            "I0000 00:00:1.1 6 cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.\n"
            "E0000 00:00:1.2 6 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)",
            ["cuda-drivers-not-found", "cuinit-failed"],
        ),
        (  # hidden by the user
            f'{_NO_DEVICE}\nI0000 00:00:1.2 9 cuda_diagnostics.cc:160] env: CUDA_VISIBLE_DEVICES="3"\n{_AGREE}',
            ["cuinit-failed", "devices-hidden", "driver-versions-agree"],
        ),
        (  # a container that was given no GPU
            "root@0f3b5a7c9d1e:/model# python t.py\n"
            "2021-06-01 16:16:58.3: E cuda_driver.cc:328] failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"
            "2021-06-01 16:16:58.4: I cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host "
            "(0f3b5a7c9d1e): /proc/driver/nvidia/version does not exist",
            ["container-host", "program-started", "cuinit-failed", "kernel-driver-absent", "container-host"],
        ),
        (  # one library missing, the optional one beside it is not blamed
            "I dso_loader.cc:133] Successfully opened dynamic library libcudart.so.12\n"
            "W dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.8'; dlerror: libnvinfer.so.8: cannot open shared object file\n"
            "W dso_loader.cc:64] Could not load dynamic library 'libcufft.so.11'; dlerror: libcufft.so.11: cannot open shared object file\n"
            "W gpu_device.cc:2365] Cannot dlopen some GPU libraries. Please make sure\nSkipping registering GPU devices...",
            ["library-opened", "optional-library-missing", "library-missing", "gpu-libraries-missing", "gpu-libraries-missing"],
        ),
        (  # a GPU newer than TensorFlow
            "W gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA\n"
            "E hip: 'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'",
            ["kernels-jit-compiled", "ptx-unsupported", "cuda-error"],
        ),
        (  # out of memory, then the exception
            "W bfc_allocator.cc:502] Allocator (GPU_0_bfc) ran out of memory trying to allocate 8.00GiB (rounded to 8589934592)requested\n"
            "Current allocation summary follows.\n"
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: failed to allocate memory [Op:AddV2]",
            ["out-of-memory", "out-of-memory", "traceback"],
        ),
        (  # an alarm that training then proved wrong
            "E cuda_driver.cc:924] failed to allocate 7.43G (7983005696 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
            "10/10 [====] - 1s 9ms/step - loss: 0.3",
            ["cuda-error", "out-of-memory", "training-progress"],
        ),
        (  # PyTorch's loader beside TensorFlow's
            "Traceback (most recent call last):\n"
            '  File "train.py", line 1, in <module>\n'
            "ImportError: /v/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclFoo",
            ["import-failed", "symbol-missing", "traceback"],
        ),
        (  # pip on a Python that the release does not know
            "ERROR: Ignored the following versions that require a different python version: 2.20.0 Requires-Python >=3.9\n"
            "ERROR: Could not find a version that satisfies the requirement tensorflow==2.5 (from versions: 2.16.1, 2.17.0)\n"
            "ERROR: No matching distribution found for tensorflow==2.5",
            ["pip-python-mismatch", "pip-no-matching-distribution", "pip-no-matching-distribution"],
        ),
    ],
)
def test_small_logs(text: str, kinds: list[str]) -> None:
    assert sorted(_kinds(text)) == sorted(kinds)
