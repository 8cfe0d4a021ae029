"""Every probe returns for arbitrary content of system files and arbitrary output of nvidia-smi."""

import importlib

import pytest
from fakes import FakeHost
from fuzz.inputs import Bounded, changed, fuzzed, texts
from hypothesis import given
from hypothesis import strategies as st

FILES = {
    "/proc/self/cgroup": b"0::/docker/3f2a\n12:memory:/kubepods/x\n",
    "/proc/1/cgroup": b"0::/\n",
    "/proc/self/mountinfo": b"30 1 0:26 / / rw - overlay overlay rw,lowerdir=/x\n31 30 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "/proc/mounts": b"overlay / overlay rw 0 0\n",
    "/proc/modules": b"nvidia 5 2 nvidia_uvm, Live 0x0\nnouveau 1 0 - Live 0x0\n",
    "/proc/driver/nvidia/version": b"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue\n",
    "/proc/driver/nvidia/gpus/0000:3b:00.0/information": b"Model: x\nDevice Minor: 0\n",
    "/proc/stat": b"btime 1700000000\n",
    "/proc/meminfo": b"MemTotal: 16 kB\nMemAvailable: 8 kB\n",
    "/proc/version": b"Linux version 5.15.167.4-microsoft-standard-WSL2\n",
    "/etc/os-release": b'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n',
    "/etc/wsl.conf": b"[gpu]\nenabled=false\n",
    "/var/log/dmesg": b"[Tue Nov 21 03:04:05 2023] kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n",
    "/sys/fs/cgroup/cpu.max": b"150000 100000\n",
    "/sys/fs/cgroup/memory.max": b"max\n",
    "/sys/bus/pci/devices/0000:3b:00.0/vendor": b"0x10de\n",
    "/sys/bus/pci/devices/0000:3b:00.0/class": b"0x030200\n",
    "/sys/bus/pci/devices/0000:3b:00.0/device": b"0x2335\n",
}
SMI = "NVIDIA-SMI 580.159.04   Driver Version: 580.159.04   CUDA Version: 13.0\nGPU 0: NVIDIA H200 (UUID: GPU-8932f937)\n"
PROBES = ("container", "kernel_log", "kernel_module", "limits", "pci", "system", "wsl", "device_nodes", "tpu")


@pytest.mark.parametrize("name", PROBES)
def test_any_file_is_read(name):
    read = importlib.import_module(f"gpucheck.core.probes.{name}").read

    @fuzzed
    @given(st.fixed_dictionaries({}, optional={path: changed(sample) for path, sample in FILES.items()}), texts(SMI))
    def check_probe(files, smi):
        programs = dict.fromkeys(("nvidia-smi", "dmesg", "journalctl", "lspci", "dpkg", "rpm"), smi)
        with Bounded():
            read(FakeHost(files, env={"PATH": "/usr/bin", "HOME": "/home/u"}, programs=programs))

    check_probe()
