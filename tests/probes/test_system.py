import msgspec
from fakes import FakeHost, machine

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.system import System, read

UBUNTU = """PRETTY_NAME="Ubuntu 24.04.3 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
# a comment=1
ID=ubuntu
ID_LIKE=debian
"""
ALPINE = 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.22.1\n'


def test_recorded_h200():
    host = FakeHost({"/etc/os-release": UBUNTU}, uname=("Linux", "6.18.44", "x86_64"), user=0, libc="glibc 2.39")
    assert read(host) == msgspec.convert(machine("h200")["system"], System)


def test_musl_without_pretty_name():
    host = FakeHost({"/usr/lib/os-release": ALPINE, "/lib/ld-musl-x86_64.so.1": ""})
    system = read(host)
    assert (system.os_name, system.os_id, system.glibc, system.musl) == ("Alpine Linux", "alpine", None, True)
    assert system.is_root is False


def test_musl_beside_glibc_is_a_glibc_system():
    system = read(FakeHost({"/lib/ld-musl-x86_64.so.1": ""}, libc="glibc 2.36"))
    assert (system.glibc, system.musl) == ("2.36", False)


def test_unknown_libc_is_not_called_musl_or_glibc():
    system = read(FakeHost(libc="uClibc 1.0"))
    assert (system.os_name, system.os_id, system.glibc, system.musl) == (None, None, None, None)


def test_macos():
    host = FakeHost(platform="darwin", uname=("Darwin", "24.6.0", "arm64"), user=501)
    assert read(host) == System(
        platform="darwin", os_name="macOS", kernel="24.6.0", architecture="arm64", musl=False, is_root=False
    )


def test_windows():
    host = FakeHost(platform="win32", uname=("Windows", "11", "AMD64"), user=None)
    assert read(host) == System(platform="win32", os_name="Windows 11", architecture="x86_64", musl=False)


def test_this_machine():
    with LocalHost(Request()) as host:
        system = read(host)
        assert system.platform == host.platform
        assert system.architecture in ("x86_64", "aarch64", "arm64")
        assert system.glibc or system.platform != "linux" or system.musl
