"""Facts of the machine that runs the tests."""

import os
import pathlib
import subprocess
import sys

import pytest

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import (
    container,
    device_nodes,
    environment,
    interpreter,
    kernel_module,
    limits,
    packages,
    pci,
    system,
    tpu,
    wsl,
)


@pytest.fixture
def host():
    with LocalHost(Request()) as opened:
        yield opened


def test_values_of_this_machine_are_plausible(host):
    processors, group = limits.read(host), container.read(host)
    assert processors.cpu_count >= processors.cpu_affinity_count >= 1
    assert 0 < processors.memory_available_bytes <= processors.memory_total_bytes
    assert processors.memory_limit_bytes is None or processors.memory_limit_bytes < processors.memory_total_bytes
    assert processors.open_files is None or processors.open_files > 0
    assert group.inside or host.stat("/.dockerenv") is None or host.link("/proc/self/ns/pid") == "pid:[4026531836]"
    assert group.driver_files_mounted is not None or not group.inside
    fact = system.read(host)
    assert fact.platform == host.platform
    assert fact.architecture in ("x86_64", "aarch64", "arm64")
    assert fact.glibc or fact.platform != "linux" or fact.musl
    assert wsl.read(host).inside is ("microsoft" in host.uname()[1].lower() or host.stat("/dev/dxg") is not None)


def test_gpus_of_the_kernel_are_plausible(host):
    module, nodes, bus = kernel_module.read(host), device_nodes.read(host), pci.read(host)
    assert module.loaded is not None
    assert module.loaded or module.gpu_addresses == ()
    assert len(module.gpu_minors) <= len(module.gpu_addresses)
    assert nodes.control.present is (host.stat("/dev/nvidiactl") is not None)
    assert nodes.control.present or nodes.control.openable is None
    assert nodes.ending is None
    assert bus.readable is bool(host.names("/sys/bus/pci/devices"))
    assert all(gpu.vendor_id == "0x10de" and gpu.class_code.startswith("0x03") for gpu in bus.gpus)


def test_tpu_is_expected_only_with_chips_or_device_nodes():
    with LocalHost(Request(), env={"PATH": os.environ["PATH"]}) as host:
        fact = tpu.read(host)
    assert fact.variables == ()
    assert fact.expected is bool(fact.generations or fact.nodes)


def test_known_variables_are_recorded_and_unknown_ones_are_named():
    env = {"TF_CPP_MIN_LOG_LEVEL": "3", "XLA_FLAGS": "--xla_gpu_autotune_level=0", "XLA_UNKNOWN_VARIABLE": "1"}
    with LocalHost(Request(), env=env) as host:
        fact = environment.read(host)
    assert fact.variables == {name: env[name] for name in ("TF_CPP_MIN_LOG_LEVEL", "XLA_FLAGS")}
    assert fact.unrecorded == ("XLA_UNKNOWN_VARIABLE",)


def test_this_interpreter(host):
    fact = interpreter.read(host)
    assert fact.executable == sys.executable
    assert fact.version == ".".join(map(str, sys.version_info[:3]))
    assert (fact.environment == "venv") == (sys.prefix != sys.base_prefix)


@pytest.mark.skipif(not pathlib.Path("/usr/bin/python3").exists(), reason="no /usr/bin/python3")
def test_system_python_is_examined_in_a_child():
    version = subprocess.run(["/usr/bin/python3", "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    with LocalHost(Request(python="/usr/bin/python3")) as host:
        fact = interpreter.read(host)
    assert version.startswith(fact.version)
    assert fact.prefix == "/usr"


def test_program_that_is_not_an_interpreter_is_an_error():
    with LocalHost(Request(python="/bin/false")) as host, pytest.raises(Exception, match=r"^/bin/false could not be examined"):
        interpreter.read(host)


@pytest.mark.skipif(sys.platform == "win32", reason="no /usr/bin/python3")
def test_packages_of_another_interpreter(tmp_path):
    """A real interpreter with --python: an empty virtual environment."""
    python = tmp_path / "env/bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    with LocalHost(Request(python=str(python))) as host:
        fact = packages.read(host)
        assert host.interpreter().prefix == str(tmp_path / "env")
    assert (fact.tensorflow, fact.flavours, fact.nvidia) == (None, (), ())
