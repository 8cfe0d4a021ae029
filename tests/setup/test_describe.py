"""The machine that --for describes: in words, as key=value, by nvidia-smi's output or by a report."""

import json
import subprocess
import sys

import pytest
from fleet_cases import REPORT

from gpucheck.commands.setup.describe import Unknown, machine
from gpucheck.commands.setup.elsewhere import of_file, read
from gpucheck.core.solver.machine import Machine

TABLE = b"""\
| NVIDIA-SMI 570.86.10              Driver Version: 570.86.10      CUDA Version: 12.8     |
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |
"""


def shown(found: Machine) -> dict:
    """The fields of a machine that the tests compare."""
    return {
        "system": "wsl" if found.wsl else "musl" if found.musl else found.system,
        "arch": found.architecture,
        "driver": found.driver,
        "gpus": [gpu.capability for gpu in found.gpus or ()],
        "others": [gpu.vendor for gpu in found.others],
        "pythons": [python.version for python in found.pythons or ()],
        "tpu": found.tpu,
        "glibc": found.glibc,
    }


BARE = {"system": "linux", "arch": "x86_64", "driver": None, "gpus": [], "others": [], "pythons": [], "tpu": None, "glibc": None}


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("RTX 4090, driver 535, WSL2, Python 3.12", {"system": "wsl", "driver": "535", "gpus": [(8, 9)], "pythons": ["3.12"]}),
        (
            "gpu=8.0 driver=470.57 python=3.11 system=rhel8",
            {"driver": "470.57", "gpus": [(8, 0)], "pythons": ["3.11"], "glibc": "2.28"},
        ),
        ("470.57,8.0,3.11", {"driver": "470.57", "gpus": [(8, 0)], "pythons": ["3.11"]}),  # as in earlier checkouts
        ("535.183.01, 8.6", {"driver": "535.183.01", "gpus": [(8, 6)]}),
        ("2x A100, Ubuntu 22.04", {"gpus": [(8, 0), (8, 0)], "glibc": "2.35"}),
        ("GH200, driver 565", {"arch": "aarch64", "driver": "565", "gpus": [(9, 0)]}),
        ("Windows 11, GTX 1660, driver 551", {"system": "win32", "driver": "551", "gpus": [(7, 5)]}),
        ("MacBook M2, Python 3.12", {"system": "darwin", "arch": "arm64", "others": ["apple"], "pythons": ["3.12"]}),
        ("AMD MI300X", {"others": ["amd"]}),
        ("TPU v5e", {"tpu": "v5e"}),
        ("Alpine, no GPU", {"system": "musl"}),
        ("no GPU, CentOS 7", {"glibc": "2.17"}),
    ],
)
def test_words(text, fields):
    assert shown(machine(text)) == {**BARE, **fields}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("RTX 4090, driver 535, Plan 9", "Plan"),
        ("driver 12", "12"),
        ("colour=red", "colour"),
        ("9.9", "9.9"),
        ("", "empty"),
        ("A100, no GPU", "no"),
        ("Windows 11, macOS", "two systems"),
        ("GH200, x86_64", "x86_64"),
    ],
)
def test_a_word_that_is_not_known_is_named(text, word):
    with pytest.raises(Unknown, match=word):
        machine(text)


def test_what_is_not_said_is_left_open():
    assert set(machine("RTX 4090").left_open) >= {"driver", "python", "system", "glibc"}
    assert machine("RTX 4090, driver 535, Ubuntu 22.04 x86_64, Python 3.12").left_open == ()


@pytest.mark.parametrize(
    ("content", "driver", "gpus"),
    [
        (TABLE, "570.86.10", [(9, 0), (9, 0)]),
        (b"name, driver_version, compute_cap\nNVIDIA A100-SXM4-80GB, 535.104.05, 8.0\n", "535.104.05", [(8, 0)]),
        (b"GPU 0: NVIDIA L4 (UUID: GPU-0)\n", None, [(8, 9)]),
    ],
)
def test_nvidia_smi(content, driver, gpus):
    found = of_file(content, "standard input")
    assert (found.driver, [gpu.capability for gpu in found.gpus]) == (driver, gpus)


def test_a_report_and_a_file_that_is_none(tmp_path):
    report = tmp_path / "report.json"
    report.write_text(json.dumps(REPORT))
    assert [gpu.capability for gpu in read(str(report)).gpus] == [(9, 0)] * 8
    for name, text in (("other.json", "{}"), ("failed.txt", "NVIDIA-SMI has failed because ..."), ("empty.txt", "")):
        (tmp_path / name).write_text(text)
        with pytest.raises(Unknown):
            read(str(tmp_path / name))
    with pytest.raises(Unknown, match="No such file"):
        read(str(tmp_path / "missing.json"))


def test_standard_input():
    command = [sys.executable, "-m", "gpucheck", "setup", "--for", "-"]
    done = subprocess.run(command, input=TABLE, capture_output=True, timeout=60)
    assert (done.returncode, b"driver 570.86.10" in done.stdout) == (0, True), done.stderr
