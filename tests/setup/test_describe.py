"""A machine from a report, from nvidia-smi's output, and from words: given properties are kept, others stay unknown."""

import json
import pathlib

import command
import pytest

from gpucheck.commands.setup import describe, other_machine
from gpucheck.core.compat import gpus, tpu
from gpucheck.core.solver.machine import Gpu, OtherGpu, Python

ROOT = pathlib.Path(__file__).parents[2]
TABLE = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI {smi}                Driver Version: {driver}         CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 {mode} | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA GeForce RTX 3090        {on}  |   00000000:01:00.0  On |                  N/A |
|   1  NVIDIA H100 80GB HBM3          {on}  |   00000000:02:00.0 Off |                    0 |
+-----------------------------------------------------------------------------------------+
"""


def test_spellings_of_a_machine_are_equivalent():
    words = describe.machine("RTX 4090, driver 535.104, Ubuntu 22.04, x86_64, Python 3.12")
    pairs = describe.machine('gpu="RTX 4090" driver=535.104 system="Ubuntu 22.04" arch=amd64 python=3.12')
    assert words == pairs
    assert (words.glibc, words.driver, words.left_open) == ("2.35", "535.104", ())
    assert words.gpus == (Gpu(name="RTX 4090", capability=(8, 9)),)
    assert words.pythons == (Python(version="3.12", executable="python3.12"),)


@pytest.mark.parametrize("words", ["os=none", "python=0"])
def test_only_hardware_may_be_absent(words):
    key, _, value = words.partition("=")
    with pytest.raises(describe.Unknown, match=f"{key} can't be '{value}'"):
        describe.machine(words)
    assert describe.machine("gpu=none").gpus == ()


def test_comma_separated_short_form():
    old = describe.machine("470,3.7,3.10")
    assert (old.driver, old.gpus, old.pythons[0].version) == ("470", (Gpu(capability=(3, 7)),), "3.10")
    assert old.left_open == ("system", "architecture", "glibc")


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("RTX 5070 Ti", (12, 0)), ("NVIDIA RTX PRO 6000 Blackwell Server Edition", (12, 0)), ("B200", (10, 0)), ("GB300", (10, 3)),
        ("NVIDIA GH200 480GB", (9, 0)), ("NVIDIA H100 80GB HBM3", (9, 0)), ("L40S", (8, 9)), ("NVIDIA RTX 6000 Ada Generation", (8, 9)),
        ("Jetson Orin Nano", (8, 7)), ("Orin", (8, 7)), ("NVIDIA A10G", (8, 6)), ("RTX A6000", (8, 6)), ("NVIDIA A100-SXM4-40GB", (8, 0)),
        ("Tesla T4", (7, 5)), ("GeForce GTX 1660 Ti", (7, 5)), ("Quadro RTX 6000", (7, 5)), ("Tesla V100-SXM2-16GB", (7, 0)),
        ("GTX 1080 Ti", (6, 1)), ("Tesla P100-PCIE-16GB", (6, 0)), ("GTX 980", (5, 2)), ("GTX 750 Ti", (5, 0)), ("Tesla K80", (3, 7)),
    ],
)  # fmt: skip
def test_nvidia_names_give_the_compute_capability(name, capability):
    length, named = gpus.at_start(name.lower())
    assert (length, named.chip) == (len(name), capability)
    assert capability in gpus.CAPABILITIES


@pytest.mark.parametrize(
    ("name", "chip"),
    [
        ("AMD Instinct MI300X", "gfx942"),
        ("RX 7900 XTX", "gfx1100"),
        ("Radeon RX 9070 XT", "gfx1201"),
        ("gfx90a", "gfx90a"),
        ("Radeon 780M", "gfx1103"),
    ],
)
def test_amd_names_give_the_chip(name, chip):
    assert describe.machine(name).others == (OtherGpu(vendor="amd", name=name, chip=chip),)


def test_several_gpus_are_counted():
    assert len(describe.machine("2x A100").gpus) == len(describe.machine("A100 x2").gpus) == 2
    assert len(describe.machine("8 H100").gpus) == 8
    assert describe.machine("H100 x64").architecture == "x86_64"


@pytest.mark.parametrize("name", [known.name for known in tpu.GENERATIONS])
def test_every_tpu_generation_is_known_by_name(name):
    assert [describe.machine(words).tpu for words in (name, f"TPU {name.removeprefix('tpu')}", f"tpu={name}")] == [name] * 3


def test_code_names_of_linux_releases():
    assert describe.machine("Debian bookworm") == describe.machine("Debian 12")
    assert describe.machine("noble, L4") == describe.machine("Ubuntu 24.04, L4")


def test_windows_with_wsl2_is_linux():
    for words in ("Windows 11, WSL2", "WSL2, Windows 11", "Windows 11 with WSL2", "Ubuntu 22.04 in WSL2"):
        assert (describe.machine(words).system, describe.machine(words).wsl) == ("linux", True)


@pytest.mark.parametrize(
    ("smi", "driver", "mode", "on", "system", "wsl"),
    [
        ("570.86.10", "570.86.10", "Persistence-M", "On", None, False),
        ("570.194", "573.76", "Persistence-M", "On", "linux", True),
        ("573.76", "573.76", "Driver-Model ", "WDDM", "win32", False),
    ],
)
def test_table_of_nvidia_smi(smi, driver, mode, on, system, wsl):
    text = TABLE.format(smi=smi, driver=driver, mode=mode, on=on)
    found = other_machine.of_nvidia_smi(text)
    assert (found.driver, found.wsl, [gpu.capability for gpu in found.gpus]) == (driver, wsl, [(8, 6), (9, 0)])
    assert "system" in found.left_open if system is None else found.system == system


def test_list_and_csv_of_nvidia_smi():
    listed = other_machine.of_nvidia_smi("GPU 0: NVIDIA L4 (UUID: GPU-1)\nGPU 1: NVIDIA L4 (UUID: GPU-2)\n")
    assert ([gpu.capability for gpu in listed.gpus], listed.driver) == ([(8, 9), (8, 9)], None)
    rows = other_machine.of_nvidia_smi("name, driver_version, compute_cap\nNVIDIA Thing, 535.104.05, 8.0\n")
    assert (rows.gpus, rows.driver) == ((Gpu(name="NVIDIA Thing", capability=(8, 0)),), "535.104.05")
    assert other_machine.of_nvidia_smi("anything") is None


def test_damaged_csv_of_nvidia_smi():
    assert other_machine.of_nvidia_smi("driver_version, name\n580.65.06\n") is None
    assert other_machine.of_nvidia_smi("driver_version, name\n580.65.06\n580.65.06, NVIDIA L4\n").driver == "580.65.06"
    assert other_machine.of_nvidia_smi(f"name, driver_version\n{'a' * 200_000}, 580.65.06\n") is None


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_file_that_powershell_wrote(encoding):
    found = other_machine.of_file("name, driver_version\nNVIDIA L4, 580.65.06\n".encode(encoding), "smi.csv")
    assert (found.driver, [gpu.name for gpu in found.gpus]) == ("580.65.06", ["NVIDIA L4"])


def test_report_file_and_nvidia_smi_on_standard_input(tmp_path):
    report = tmp_path / "report.json"
    facts = json.loads((ROOT / "tests/machines/h200.json").read_text())
    request = facts.pop("request")
    report.write_text(json.dumps({"schema_version": "1.0", "request": request, "facts": facts, "probes": []}))
    done = command.gpucheck("setup", "--for", report)
    assert done.returncode == 0, done.stderr
    assert "driver 580.159" in done.stdout
    assert "NVIDIA H200" in done.stdout
    piped = command.gpucheck("setup", "--for", "-", input=TABLE.format(smi="535.1", driver="535.104.05", mode="", on="On"))
    assert (piped.returncode, "driver 535.104.05" in piped.stdout) == (0, True)


def test_error_message_of_nvidia_smi_is_recognized(tmp_path):
    (tmp_path / "other.txt").write_text("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
    done = command.gpucheck("setup", "--for", tmp_path / "other.txt")
    assert (done.returncode, "nvidia-smi failed there" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("RTX 4090, driver 535, Plan 9", "Plan"),
        ("driver 12", "12"),
        ("color=red", "color"),
        ("9.9", "9.9"),
        ("", "empty"),
        ("A100, no GPU", "no"),
        ("Windows 11, macOS", "two systems"),
        ("GH200, x86_64", "x86_64"),
    ],
)
def test_unknown_word_is_named(text, word):
    with pytest.raises(describe.Unknown, match=word):
        describe.machine(text)


def test_too_long_description_is_refused():
    with pytest.raises(describe.Unknown, match="more than 1000 characters"):
        describe.machine("gpu=A100 " * 200)
