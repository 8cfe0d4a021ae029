import pathlib

import msgspec
import pytest
from fakes import FakeHost, machine

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.kernel_module import KernelModule, read

RAW = pathlib.Path(__file__).parent.parent / "raw"
VERSION = "/proc/driver/nvidia/version"
H200 = {
    VERSION: (RAW / "h200/proc_driver_nvidia_version.txt").read_text(),
    "/proc/driver/nvidia/gpus/0000:00:06.0/information": (RAW / "h200/proc_driver_nvidia_gpu_information.txt").read_text(),
    "/sys/module/nvidia/version": "580.159.04\n",
    "/sys/module/nvidia_uvm/version": "580.159.04\n",
    "/sys/module/libnvdimm/uevent": "",
}
RELEASE = "6.8.0-45-generic"  # FakeHost's


def test_recorded_h200():
    host = FakeHost(H200, uname=("Linux", "6.18.44", "x86_64"))
    assert read(host) == msgspec.convert(machine("h200")["kernel_module"], KernelModule)


@pytest.mark.parametrize(
    ("line", "version", "open_source"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023", "535.54.03", False),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.157  Wed Oct 12 09:19:07 UTC 2022", "390.157", False),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  595.45.04  Release Build  (builder@host)",
            "595.45.04",
            True,
        ),
        ("NVRM version: something new", None, None),
    ],
)
def test_version_line(line, version, open_source):
    module = read(FakeHost({VERSION: f"{line}\nGCC version:  gcc version 13.2.0\n"}))
    assert (module.loaded, module.version, module.open_source) == (True, version, open_source)


def test_sysfs_alone():
    module = read(FakeHost({"/sys/module/nvidia/version": "550.54.15\n"}))
    assert (module.loaded, module.version, module.open_source, module.uvm_loaded) == (True, "550.54.15", None, False)


def test_proc_modules_alone():
    module = read(FakeHost({"/proc/modules": "nvidia_uvm 1 0 - Live 0x0\nnvidia 5 1 nvidia_uvm, Live 0x0\n"}))
    assert (module.loaded, module.uvm_loaded, module.nouveau_loaded) == (True, True, False)


def test_nouveau_holds_four_gpus():
    files = {
        "/proc/modules": "nouveau 3096576 4 - Live 0x0\nttm 110592 1 nouveau, Live 0x0\n",
        f"/lib/modules/{RELEASE}/updates/dkms/nvidia.ko.zst": "",
    }
    assert read(FakeHost(files)) == KernelModule(
        loaded=False, uvm_loaded=False, nouveau_loaded=True, installed_for_running_kernel=True
    )


@pytest.mark.parametrize(
    "file",
    [
        "updates/nvidia.ko",
        "updates/dkms/nvidia.ko.zst",
        "updates/dkms/nvidia-current.ko",
        "extra/nvidia.ko.xz",
        "extra/nvidia/nvidia.ko.xz",
        "extra/drivers/video/nvidia/nvidia.ko",
        "extramodules/nvidia.ko.xz",
        "kernel/drivers/video/nvidia.ko",
        "kernel/nvidia-535srv-open/nvidia.ko",
        "weak-updates/nvidia.ko",
        "weak-updates/nvidia/nvidia.ko",
    ],
)
def test_where_packages_put_it(file):
    module = read(FakeHost({f"/lib/modules/{RELEASE}/{file}": ""}))
    assert (module.installed_for_running_kernel, module.installed_for_kernels) == (True, ())


@pytest.mark.parametrize("file", ["updates/dkms/nvidia-drm.ko", "updates/dkms/nvidia-uvm.ko.zst", "extra/nvidiafb.ko"])
def test_what_is_not_it(file):
    assert read(FakeHost({f"/lib/modules/{RELEASE}/{file}": ""})).installed_for_running_kernel is False


def test_built_for_another_kernel():
    files = {
        f"/lib/modules/{RELEASE}/modules.dep": "",
        "/lib/modules/6.8.0-41-generic/updates/dkms/nvidia.ko.zst": "",
        "/lib/modules/6.8.0-31-generic/updates/dkms/nvidia.ko.zst": "",
    }
    module = read(FakeHost(files))
    assert module.installed_for_running_kernel is False
    assert module.installed_for_kernels == ("6.8.0-31-generic", "6.8.0-41-generic")


def test_four_gpus_by_minor():
    files = {
        f"/proc/driver/nvidia/gpus/0000:{bus}:00.0/information": f"Model: \t\t NVIDIA A100\nDevice Minor: \t {minor}\n"
        for bus, minor in (("07", 3), ("0F", 2), ("47", 1), ("4E", 0))
    }
    module = read(FakeHost(files))
    assert module.gpu_minors == (0, 1, 2, 3)
    assert module.gpu_addresses == ("0000:07:00.0", "0000:0f:00.0", "0000:47:00.0", "0000:4e:00.0")


def test_nothing_to_read_is_unknown():
    assert read(FakeHost()) == KernelModule()


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems(platform):
    assert read(FakeHost(H200, platform=platform)) == KernelModule()


def test_this_machine():
    with LocalHost(Request()) as host:
        module = read(host)
        assert module.loaded is not None
        assert module.loaded or module.gpu_addresses == ()
        assert len(module.gpu_minors) <= len(module.gpu_addresses)
