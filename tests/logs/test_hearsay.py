"""What a text only speaks of is a warning: source code, advice for a case that may come, tables of codes. What happened is not."""

import pytest

from gpucheck.engine.explain import explain
from gpucheck.logs.reading.hearsay import Listing, spoken_of

MISMATCH = "Failed to initialize NVML: Driver/library version mismatch"

SPOKEN_OF = [
    # source code
    f'    "{MISMATCH}",',
    f"echo '{MISMATCH}' >&2;",
    f'if nvidia-smi 2>&1 | grep -q "{MISMATCH}"; then',
    f'assert parsed("{MISMATCH}") is None',
    f'const BROKEN = "{MISMATCH}";',
    f"  {{ id: 'nvml', symptom: '{MISMATCH}', fix: 'driver' }},",
    f"// {MISMATCH}",
    "/* returning 0 makes RmInitAdapter print and fail",
    "CUDNN_STATUS_NOT_INITIALIZED = 1,",
    "case NVML_ERROR_GPU_IS_LOST:",
    r"found = re.search(r'DRAM Uncorrectable\s+: (\d+)', output)",
    # advice, change logs and tables
    f'If you see "{MISMATCH}", restart the machine.',
    "For errors like `CUDA_ERROR_NO_DEVICE`, look at the driver.",
    "Power saving can cause Xid 79.",
    "- Fixed CUDNN_STATUS_NOT_INITIALIZED on H100",
    "This keeps the loader going and avoids the `hipErrorNoBinaryForGpu` there.",
    "1. RuntimeError: CUDA error: invalid device function [Cure](errors.md#cure)",
    "| 79  | GPU has fallen off the bus     | Restart |",
    "16.0 is printed (no CUDNN_STATUS_NOT_INITIALIZED)",
    f"如果出现 {MISMATCH}",
]
SAID = [
    MISMATCH,
    f"If I call nvidia-smi, {MISMATCH}",
    f"$ nvidia-smi: {MISMATCH}",
    f'level=error msg="{MISMATCH}"',
    f'{{"level": "error", "msg": "{MISMATCH}"}},',
    f'"{MISMATCH}\\n",',  # a notebook's output
    f"worker failed: RuntimeError('{MISMATCH}')",
    "RuntimeError: CUDA out of memory. If reserved memory is >> allocated memory try setting max_split_size_mb",
    "CUDA out of memory. Tried to allocate 2.00 GiB. If reserved memory is large, see the notes to avoid fragmentation",
    "E1121 07:00:00.1 1 factory.go:115] If this is a GPU node, did you configure the NVIDIA Container Toolkit?",
    "If this is a GPU node, did you configure the NVIDIA Container Toolkit?",
    "2026-11-21 07:00:00: W gpu_device.cc:2341] Cannot dlopen some GPU libraries. If you would like to use GPU, install them",
    "| 30%   40C    P8    20W / 300W |      1MiB / 24576MiB |      0%   E. Process |",
    "CUDA_VISIBLE_DEVICES=-1",
    'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]]',
    'since the last update it says "CUDA_ERROR_NO_DEVICE",',
    "and then it died of `CUDA_ERROR_NO_DEVICE` (see `log.txt`)",
    "NVRM: Xid (PCI:0000:65:00): 79, GPU has fallen off the bus.",
]


@pytest.mark.parametrize("line", SPOKEN_OF)
def test_spoken_of(line):
    assert spoken_of(line)


@pytest.mark.parametrize("line", SAID)
def test_said(line):
    assert not spoken_of(line)


SOURCE = f'''import pytest
from tools import probe

# the driver prints "{MISMATCH}" then
# and older ones: {MISMATCH}


def test_probe(machine):
    """{MISMATCH}"""
    machine.says = broken()
    assert probe(machine) is None
'''


def weights(text):
    return {(finding.code, finding.severity.value) for finding in explain(text.split("\n"), "test").findings}


def test_a_listing_is_no_alarm():
    assert weights(SOURCE) == {("driver-library-mismatch", "warning")}


@pytest.mark.parametrize(
    "output",
    [
        f"$ nvidia-smi\n{MISMATCH}",
        f"Traceback (most recent call last):\nRuntimeError: {MISMATCH}",
        f"/opt/p/__init__.py:5: UserWarning: {MISMATCH}",
        f'"output_type": "stream", "text":\n"{MISMATCH}"',
    ],
)
def test_output_beside_source_is_one(output):
    assert weights(SOURCE + output) == {("driver-library-mismatch", "error")}


@pytest.mark.parametrize(
    "fence",
    [
        f"If you see this error:\n\n```text\nfrom nvidia-smi:\n{MISMATCH}\n```\nrestart.",
        f"如果看到类似以下警告：\n\n{MISMATCH}\n",
    ],
)
def test_an_example_is_no_alarm(fence):
    assert weights(fence) == {("driver-library-mismatch", "warning")}
    assert weights(fence + f"\nnvidia-smi says: {MISMATCH}") == {("driver-library-mismatch", "error")}


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"tensor({step}.5, device='cuda:0')" for step in range(9)) + f"\n{MISMATCH}",
        "PATH=/usr/bin\nHOME=/root\nCUDA_HOME=/usr/local/cuda\nLANG=C\n" + MISMATCH,
        "step = 1\nloss = nan\nlr = 0.1\n" + MISMATCH,
    ],
)
def test_what_programs_print_is_no_source(text):
    assert ("driver-library-mismatch", "error") in weights(text)


def test_the_rest_of_a_long_stream_passes_unseen():
    listing = Listing()
    lines = [f"line {number}" for number in range(5000)]
    assert list(listing.through(lines)) == lines
    assert not listing.is_source


# what the kernel says of a GPU that only the open modules drive, of links that an NVSwitch watches, and counts without a heading
@pytest.mark.parametrize(
    ("text", "code", "severity"),
    [
        (
            "[ 19.0] NVRM: The NVIDIA GPU 0000:03:00.0 (PCI ID: 10de:2bb1)\n"
            "[ 19.0] NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n"
            "[ 19.1] NVRM: GPU 0000:03:00.0: RmInitAdapter failed! (0x22:0x56:884)",
            "driver-not-loaded",
            "error",
        ),
        ("[ 19.1] NVRM: GPU 0000:03:00.0: RmInitAdapter failed! (0x26:0x56:1463)", "gpu-lost", "error"),
        ("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 3 LTSSM Fault Up", "nvlink-down", "error"),
        ("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20009, Non-fatal, Link 3 RX Short Error", "nvlink-down", "warning"),
        ("    DRAM Uncorrectable   : 1", "ecc-errors", "warning"),
        ("Volatile\n    DRAM Uncorrectable   : 1", "ecc-errors", "error"),
        ("            Volatile Uncorrectable Errors: 3", "ecc-errors", "error"),
    ],
)
def test_first_cause(text, code, severity):
    first = explain(text.split("\n"), "test").findings[0]
    assert (first.code, first.severity.value) == (code, severity)
