"""The solver's input: from the facts of probes, and the Pythons on this machine."""

import sys
import venv

import pytest
from fakes import FakeHost

from gpucheck.commands.setup import read
from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.host import Completed
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpu as NvmlGpu
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.pci import Pci, PciFunction
from gpucheck.core.probes.system import System
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.solver.machine import Gpu, Machine, Python, machine

USUAL = "cpython {} True True True\n"


def test_pythons_of_path_pyenv_uv_and_conda_are_found_once_each():
    home = "/home/user"
    files = [
        "/usr/bin/python3.11",
        "/usr/bin/python3-config",
        f"{home}/.pyenv/versions/3.12.1/bin/python3",
        f"{home}/.local/share/uv/python/cpython-3.13.0-linux-x86_64-gnu/bin/python3",
        f"{home}/miniconda3/envs/train/bin/python",
    ]
    answers = dict(zip(files[2:], ("3.12.1", "3.13.0", "3.10.9"), strict=True))
    host = FakeHost(
        dict.fromkeys(files, ""),
        links={"/usr/bin/python3": "/usr/bin/python3.11", f"{home}/.pyenv/shims/python3.12": "/usr/bin/python3.11"},
        env={"PATH": f"{home}/.pyenv/shims:/usr/bin:/nowhere", "HOME": home},
        programs={
            "python3": USUAL.format("3.11.2"),
            **{f"{path} -I -S -c {read.DESCRIBE}": USUAL.format(version) for path, version in answers.items()},
        },
    )
    versions = {python.version: python.executable for python in read.find_pythons(host)[0]}
    assert len(host.ran) == 4  # each file runs once
    assert versions == {"3.11.2": "/usr/bin/python3", "3.12.1": files[2], "3.13.0": files[3], "3.10.9": files[4]}


def test_pythons_of_gpucheck_and_the_system_are_found_without_path():
    programs = {"python3": USUAL.format("3.11.2"), "python3.12": USUAL.format("3.12.1")}
    host = FakeHost({"/usr/bin/python3": "", "/env/bin/python3.12": ""}, programs=programs)
    assert [python.version for python in read.find_pythons(host, "/env/bin/python3.12")[0]] == ["3.11.2", "3.12.1"]


@pytest.mark.parametrize(
    "answer",
    [
        "pypy 3.10.14 True True True",
        "cpython 3.12.3 False True True",  # 32 bits
        "cpython 3.13.1 True False True",  # without the global lock
        "Python 3.12.3",
        "",
        Completed("timed out"),
    ],
)
def test_unsuitable_or_unresponsive_python_is_ignored(answer):
    host = FakeHost({"/usr/bin/python3": ""}, env={"PATH": "/usr/bin"}, programs={"python3": answer})
    assert read.find_pythons(host)[0] == ()


@pytest.mark.skipif(sys.platform == "win32", reason="environments have other folders on Windows")
def test_inspected_python_loads_no_packages_of_its_environment(tmp_path):
    """Another user may have written them, and their .pth files are executed at every start."""
    venv.create(tmp_path / "env", symlinks=True)
    (library,) = tmp_path.glob("env/lib/python*/site-packages")
    (library / "mark.pth").write_text(f"import os; open({str(tmp_path / 'executed')!r}, 'w')\n")
    with LocalHost(Request()) as host:
        assert read.inspect_python(host, str(tmp_path / "env/bin/python")) is not None
    assert not (tmp_path / "executed").exists()


def test_python_without_venv_is_reported():
    host = FakeHost(programs={"python3": "cpython 3.12.3 True True False"})
    assert read.inspect_python(host, "/usr/bin/python3") == Python(
        version="3.12.3", executable="/usr/bin/python3", has_venv=False
    )


def test_machine_is_built_from_facts():
    system = System(platform="linux", os_name="Ubuntu 24.04", architecture="x86_64", glibc="2.39", musl=False)
    driver = Driver(status="ok", version="580.159.04")
    gpus = Gpus(gpus=(NvmlGpu(index=0, name="NVIDIA H200", compute_capability=(9, 0)),))
    made = machine(system, Wsl(inside=False), driver, gpus, None, Tpu(), has_gpu=True)
    assert made == Machine(
        os_name="Ubuntu 24.04",
        glibc="2.39",
        musl=False,
        driver="580.159.04",
        gpus=(Gpu(capability=(9, 0), name="NVIDIA H200"),),
        pythons=None,
    )


@pytest.mark.parametrize(
    ("has_gpu", "gpus"),
    [(False, ()), (True, (Gpu(),)), (None, None)],
)
def test_unknown_gpus_stay_unknown(has_gpu, gpus):
    assert machine(None, driver=Driver(status="failed"), has_gpu=has_gpu).gpus == gpus


def test_tpu_is_detected_by_its_chips_or_device_nodes():
    assert machine(None, tpu=Tpu(generations=("v5e",)), has_gpu=False).tpu == "v5e"
    assert machine(None, tpu=Tpu(nodes=("/dev/accel0",)), has_gpu=False).tpu == "unknown"
    assert machine(None, tpu=Tpu(variables=("TPU_NAME",)), has_gpu=False).tpu is None


def test_windows_driver_of_wsl_is_used():
    made = machine(None, Wsl(inside=True, version=2), Driver(status="ok", version="552.22"), has_gpu=True)
    assert made.wsl
    assert made.driver == "552.22"


def test_unknown_amd_display_adapter_is_not_taken_for_an_accelerator():
    def found(class_code):
        function = PciFunction(address="0000:03:00.0", vendor_id="0x1002", device_id="0x1", class_code=class_code)
        bus = Pci(readable=True, amd_gpus=(function,))
        return solve(machine(System(platform="linux", architecture="x86_64"), pci=bus, has_gpu=False, pythons=None))

    display, accelerator = found("0x030000"), found("0x120000")
    assert display.best.packages == ("tensorflow==2.21.0",)
    assert display.advice[0].startswith("There is an AMD GPU of unknown model")
    assert accelerator.best.image == "rocm/tensorflow:latest"
