"""Issues and posts: prose, a form's answers and pieces of logs, from which one cause follows that no single line names."""

import pytest

from gpucheck.engine.explain import explain

FORM = """### OS platform and distribution

{os}

### TensorFlow version

{tensorflow}

### Python version

{python}

### Current behavior?

{told}
"""
TEMPLATE = """**System information**
- OS Platform and Distribution (e.g., Linux Ubuntu 16.04): {os}
- **TensorFlow version (use command below)**: {tensorflow}
- Python version: {python}

**Describe the current behavior**
{told}
"""
EMPTY = ">>> print(tf.config.list_physical_devices('GPU'))\n[]"
NONE = "Num GPUs Available:  0"
ABSENT = "ModuleNotFoundError: No module named 'tensorflow'"
SMI = "| NVIDIA-SMI 535.161.08   Driver Version: 535.161.08   CUDA Version: 12.2     |"
GPU = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5f1c9f2e-1111-2222-3333-444455556666)"
UNKNOWN = "Failed to initialize NVML: Unknown Error"
FILLING = "shuffle_dataset_op.cc:390] Filling up shuffle buffer (this may take a while): {} of 9000\n"
# a segment that another process should have made: missing, not full
ATTACH = "Error while attaching to shared memory segment /dev/shm/nccl-glnlGK (size 14156128)"
P2P = "gpu01:4121:4188 [0] NCCL INFO P2P is disabled between connected GPUs 1 and 0. You can repress this message with"
REFUSED = (
    'tcp_client_posix.c:191] Connect failed: {"created":"@1488702070.1","description":"OS Error","errno":111,"os_error":"Connection '
    'refused","syscall":"connect","target_address":"ipv4:10.0.0.5:2222"}'
)
PS = "python train.py --job_name=worker --ps_hosts=10.0.0.4:2222 --worker_hosts=10.0.0.5:2222"


def first(text):
    found = [finding for finding in explain(text.split("\n"), "test").findings if finding.explained_by is None]
    return (found[0].code, found[0].severity.value) if found else None


@pytest.mark.parametrize("form", [FORM, TEMPLATE])
@pytest.mark.parametrize(
    ("os", "tensorflow", "python", "told", "cause"),
    [
        ("Windows 11 23H2", "2.15.0", "3.11", EMPTY, "windows-native-unsupported"),
        ("Windows 10 x64", "tf 2.12", "3.10", NONE, "windows-native-unsupported"),
        (
            "Windows 10 x64",
            "2.11.1",
            "3.10",
            "`tf.config.list_physical_devices('GPU')` returns `[]`",
            "windows-native-unsupported",
        ),
        ("Windows 11", "2.16", "3.12", "TensorFlow doesn't see my GPU", "windows-native-unsupported"),
        ("Windows 11", "2.10.1", "3.10", NONE, "gpus-not-listed"),
        ("Windows 11, WSL2 Ubuntu 22.04", "2.16.1", "3.12", NONE, "gpus-not-listed"),
        ("Linux Ubuntu 24.04", "2.16.1", "3.12", NONE, "gpus-not-listed"),
        ("macOS 14.4 (M2)", "2.16.1", "3.12", EMPTY, "macos-no-cuda"),
        ("Fedora 42", "2.17.0", "3.14", ABSENT, "python-unsupported"),
        ("Fedora 42", "2.17.0", "3.12", ABSENT, "tensorflow-not-installed"),
    ],
)
def test_a_form_is_read(form, os, tensorflow, python, told, cause):
    code, severity = first(form.format(os=os, tensorflow=tensorflow, python=python, told=told))
    assert code == cause
    assert severity == ("warning" if cause == "gpus-not-listed" else "error")


@pytest.mark.parametrize(
    "text",
    [
        f"(container) $ nvidia-smi\n{UNKNOWN}\n\n(host) $ nvidia-smi\n{SMI}",
        f"Inside the container:\n{UNKNOWN}\nand on the host:\n{SMI}",
        f"root@4f3c9a1be2d7:/# nvidia-smi\n{UNKNOWN}\n\nada@gpu01:~$ nvidia-smi -L\n{GPU}",
        f"$ kubectl exec train-0 -- nvidia-smi\n{UNKNOWN}\n$ nvidia-smi\n{SMI}",
        f"$ docker exec -it job bash\n# nvidia-smi\n{UNKNOWN}",
        f"$ docker exec job python t.py\ncuda_driver.cc:282] failed call to cuInit: CUDA_ERROR_NO_DEVICE: none\n$ nvidia-smi\n{SMI}\n"
        f"$ python t.py\nNum GPUs Available: 2",
        "$ docker run tensorflow/tensorflow:2.15.0-gpu python t.py\ncuda_driver.cc:274] failed call to cuInit: UNKNOWN ERROR (34)",
        f"The GPUs are visible in the container:\n# nvidia-smi -L\n{GPU}\nand after a daemon-reload on the host:\n# nvidia-smi\n{UNKNOWN}",
    ],
)
def test_the_success_of_a_host_does_not_withdraw_the_failure_of_its_container(text):
    assert first(text) == ("container-without-gpu", "error")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"ada@gpu01:~$ nvidia-smi\n{UNKNOWN}", ("device-permission-denied", "error")),
        (f"$ nvidia-smi\n{UNKNOWN}\nafter a restart:\n$ nvidia-smi\n{SMI}", None),
        (f"root@4f3c9a1be2d7:/# nvidia-smi\n{UNKNOWN}\nroot@4f3c9a1be2d7:/# nvidia-smi\n{SMI}", None),
        (f"ada@node1:~$ nvidia-smi\n{SMI}\nada@node2:~$ nvidia-smi\n{UNKNOWN}", ("device-permission-denied", "error")),
        (f"ada@node2:~$ nvidia-smi\n{UNKNOWN}\nada@node1:~$ nvidia-smi\n{SMI}", ("device-permission-denied", "error")),
    ],
)
def test_a_success_in_the_same_place_does(text, found):
    assert first(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "        Mapped libcuda.so paths:\n                /usr/local/cuda/lib64/stubs/libcuda.so",
        "$ ldd train\n    libcuda.so.1 => /usr/local/cuda/lib64/stubs/libcuda.so.1 (0x00007f1a2c000000)",
        "7f3b5c000000-7f3b5c012000 r-xp 00000000 08:02 1315322   /usr/local/cuda/targets/x86_64-linux/lib/stubs/libcuda.so",
    ],
)
def test_a_stub_that_is_loaded(text):
    assert first(text) == ("cuda-stub-loaded", "error")


@pytest.mark.parametrize(
    "text",
    [
        '/src/hipamd/hip_code_object.cpp:486: "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"',
        'hip_code_object.cpp:120: guarantee(false && "hipErrorNoBinaryForGpu: Couldn\'t find binary for current devices!")',
        "Memory access fault by GPU node-1: hipErrorNoBinaryForGpu",
        "hipErrorNoBinaryForGpu\nAborted (core dumped)\nthough it is listed:\n[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]",
        "RuntimeError: HIP error: invalid device function",
    ],
)
def test_a_gpu_of_amd_without_kernels(text):
    assert first(text) == ("rocm-gpu-unsupported", "error")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("".join(FILLING.format(1000 * n) for n in range(1, 5)), ("input-pipeline-bound", "warning")),
        ("".join(f"Epoch {n}/3\n" + FILLING.format(800 + n) for n in range(1, 4)), ("input-pipeline-bound", "warning")),
        (FILLING.format(4000) + "shuffle_dataset_op.cc:415] Shuffle buffer filled.\nEpoch 1/2\nEpoch 2/2", None),
        (P2P, ("peer-access-unavailable", "warning")),
        (f"{P2P}\nEpoch 2/9\n", ("peer-access-unavailable", "warning")),
        (f"{P2P}\ntorch.distributed.DistBackendError: NCCL error in: a.cpp:1, unhandled system error", ("nccl-failed", "error")),
        (
            f"NCCL WARN {ATTACH}, error: No such file or directory (2)\nncclSystemError: a system call failed",
            ("nccl-failed", "error"),
        ),
        (f"NCCL WARN {ATTACH}, error: No space left on device (28)", ("shared-memory-too-small", "error")),
        (f"$ {PS}\n{REFUSED}\nsubchannel.c:567] Failed to connect to channel, retrying", ("worker-unreachable", "error")),
        (f"> $ {PS}\n> {REFUSED}", ("worker-unreachable", "error")),
        (f"$ {PS}\n{REFUSED}\nmaster_session.cc:999] Start master session 51ab with config:", None),
        (REFUSED, None),
    ],
)
def test_what_several_lines_say_together(text, found):
    assert first(text) == found


def test_an_old_python_was_the_right_one_for_a_tensorflow_of_its_time():
    told = "I made an environment with python 3.6 and installed tensorflow there. In Jupyter: " + ABSENT
    assert first(told)[0] != "python-unsupported"
    assert first("With python 3.14: " + ABSENT)[0] == "python-unsupported"
