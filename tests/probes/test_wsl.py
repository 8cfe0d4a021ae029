import pytest
from fakes import FakeHost

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.wsl import Wsl, read

LIB = "/usr/lib/wsl/lib"
DRIVER = {
    f"{LIB}/{name}": ""
    for name in ("libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1", "libd3d12.so", "libdxcore.so", "nvidia-smi")
}


def kernel(release):
    return ("Linux", release, "x86_64")


WSL2 = kernel("5.15.153.1-microsoft-standard-WSL2")


def test_wsl2_with_gpu():
    host = FakeHost(DRIVER, nodes={"/dev/dxg": 0o666}, folders=("/run/WSL",), uname=WSL2)
    assert read(host) == Wsl(
        inside=True,
        version=2,
        distribution=True,
        dxg_present=True,
        libraries=("libcuda.so", "libcuda.so.1", "libnvidia-ml.so.1"),
    )


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("4.4.0-19041-Microsoft", 1),
        ("4.4.0-22621-Microsoft", 1),
        ("4.19.128-microsoft-standard", 2),  # neither "WSL2" nor a 5 in front
        ("5.4.51-microsoft-standard", 2),
        ("6.6.87.2-microsoft-standard-WSL2", 2),
    ],
)
def test_version_by_release(release, version):
    wsl = read(FakeHost(uname=kernel(release), env={"WSL_DISTRO_NAME": "Ubuntu"}))
    assert (wsl.inside, wsl.version, wsl.dxg_present) == (True, version, False)


@pytest.mark.parametrize(
    "extra",
    [
        {"nodes": {"/dev/dxg": 0o666}},
        {"files": DRIVER},
        {"env": {"WSL_INTEROP": "/run/WSL/8_interop"}},
    ],
)
def test_custom_kernel_without_the_word(extra):
    wsl = read(FakeHost(uname=kernel("6.1.21.2-custom"), **extra))
    assert (wsl.inside, wsl.version) == (True, 2)


def test_linux_driver_inside():
    files = {
        **DRIVER,
        "/usr/lib/x86_64-linux-gnu/libcuda.so.1": "",
        "/usr/lib64/libnvidia-ml.so.1": "",
    }
    assert read(FakeHost(files, uname=WSL2)).linux_driver_libraries == (
        "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
        "/usr/lib64/libnvidia-ml.so.1",
    )


def test_link_to_the_windows_driver_is_no_linux_driver():
    links = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1": f"{LIB}/libcuda.so.1"}
    assert read(FakeHost(DRIVER, links=links, uname=WSL2)).linux_driver_libraries == ()


@pytest.mark.parametrize(
    ("text", "enabled"),
    [
        ("[boot]\nsystemd=true\n\n[gpu]\nenabled = false # no games\n", False),
        ("[GPU]\nEnabled=True\n", True),
        ("[interop]\nenabled=false\n", None),
        ("[gpu]\nenabled=perhaps\n", None),
    ],
)
def test_gpu_setting(text, enabled):
    assert read(FakeHost({"/etc/wsl.conf": text}, uname=WSL2)).gpu_enabled is enabled


def test_docker_desktop_container_is_no_distribution():
    files = {"/.dockerenv": "", "/usr/lib/x86_64-linux-gnu/libcuda.so.1": "", "/etc/wsl.conf": "[gpu]\nenabled=false"}
    wsl = read(FakeHost(files, uname=WSL2))
    assert (wsl.inside, wsl.version, wsl.distribution) == (True, 2, False)
    assert (wsl.linux_driver_libraries, wsl.gpu_enabled) == ((), None)


def test_distribution_made_from_a_docker_export():
    assert read(FakeHost({"/.dockerenv": ""}, folders=("/run/WSL",), uname=WSL2)).distribution is True


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_elsewhere(platform):
    assert read(FakeHost(platform=platform)) == Wsl(inside=False)


def test_this_machine():
    with LocalHost(Request()) as host:
        assert read(host).inside is ("microsoft" in host.uname()[1].lower() or host.stat("/dev/dxg") is not None)
