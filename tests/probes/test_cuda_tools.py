import json

import pytest
from fakes import FakeHost

from gpucheck.host import Completed
from gpucheck.model import Level, Request
from gpucheck.probes import _cuda_tools
from gpucheck.probes._cuda_tools import Located
from gpucheck.probes._distributions import Installed

SITE = "/v/lib/python3.12/site-packages"
TENSORFLOW = f"{SITE}/tensorflow"
WHEEL = f"{SITE}/nvidia/cuda_nvcc/bin/ptxas"
FOUND = {"nvidia-cuda-nvcc-cu12": Installed("nvidia-cuda-nvcc-cu12", "12.5.82", SITE, "")}
TOOLKIT = "/usr/local/cuda-13.0/bin/ptxas"
LINK = {"/usr/local/cuda": "/usr/local/cuda-13.0"}
QUICK = Request(level=Level.QUICK)


def ptxas(*paths, found=FOUND, more=None, **settings):
    files = dict.fromkeys(paths, "program") | (more or {})
    return _cuda_tools.ptxas(FakeHost(files, **{"request": QUICK, **settings}), TENSORFLOW, found)


def test_none():
    assert ptxas() == Located(None, None, ())


def test_the_wheels_own():
    assert ptxas(WHEEL) == Located(WHEEL, "12.5.82", ())


def test_the_wheel_of_cuda_13_is_another_folders():
    both = {"nvidia-cuda-nvcc": Installed("nvidia-cuda-nvcc", "13.0.88", SITE, ""), **FOUND}
    assert ptxas(WHEEL, found=both).version == "12.5.82"


def test_a_system_toolkit_comes_before_the_wheel():
    assert ptxas(WHEEL, TOOLKIT, links=LINK) == Located("/usr/local/cuda/bin/ptxas", "13.0", (WHEEL,))


def test_path_comes_before_the_toolkit_and_the_data_folder_before_path():
    own, mine = "/opt/bin/ptxas", "/data/bin/ptxas"
    settings = {"links": LINK, "env": {"PATH": "/usr/bin:/opt/bin"}}
    assert ptxas(WHEEL, TOOLKIT, own, mine, **settings).path == own
    settings["env"]["XLA_FLAGS"] = "--xla_foo=1 --xla_gpu_cuda_data_dir=/data"
    assert ptxas(WHEEL, TOOLKIT, own, mine, **settings) == Located(mine, None, (own, "/usr/local/cuda/bin/ptxas", WHEEL))


def test_the_default_data_folder_is_in_the_working_directory():
    assert ptxas(WHEEL, "cuda_sdk_lib/bin/ptxas").path == "./cuda_sdk_lib/bin/ptxas"


def test_the_same_file_counts_once():
    assert ptxas(TOOLKIT, links=LINK, env={"PATH": "/usr/local/cuda-13.0/bin"}) == Located(TOOLKIT, "13.0", ())


@pytest.mark.parametrize("version", ["12.3.103", "11.7.99"])
def test_what_xla_refuses_is_passed_over(version):
    more = {"/usr/local/cuda-13.0/version.json": json.dumps({"cuda_nvcc": {"name": "NVCC", "version": version}})}
    assert ptxas(WHEEL, TOOLKIT, links=LINK, more=more) == Located(WHEEL, "12.5.82", ("/usr/local/cuda/bin/ptxas",))
    assert ptxas(TOOLKIT, links=LINK, more=more) == Located(None, None, ("/usr/local/cuda/bin/ptxas",))


def test_the_program_is_asked_only_above_quick():
    programs = {"ptxas": "Cuda compilation tools, release 12.4, V12.4.131\nBuild cuda_12.4\n"}
    default = Request(level=Level.DEFAULT)
    assert ptxas("/usr/bin/ptxas", env={"PATH": "/usr/bin"}, programs=programs).version is None
    assert ptxas("/usr/bin/ptxas", env={"PATH": "/usr/bin"}, programs=programs, request=default).version == "12.4.131"
    late = {"ptxas": Completed("timed out", None, "", "", 5.0)}
    assert ptxas("/usr/bin/ptxas", env={"PATH": "/usr/bin"}, programs=late, request=default).version is None


def test_libdevice():
    path = "nvvm/libdevice/libdevice.10.bc"
    files = {f"{SITE}/nvidia/cuda_nvcc/{path}": "", f"/v/{path}": "", f"/usr/local/cuda/{path}": ""}
    for place in files:
        files[place] = "bitcode"
    found = _cuda_tools.libdevice(FakeHost(files), TENSORFLOW)
    assert found.path == f"/usr/local/cuda/{path}"
    assert found.elsewhere == (f"{SITE}/nvidia/cuda_nvcc/{path}", f"/v/{path}")
    flags = {"XLA_FLAGS": "--xla_gpu_cuda_data_dir=/v"}
    assert _cuda_tools.libdevice(FakeHost(files, env=flags), TENSORFLOW).path == f"/v/{path}"
    assert _cuda_tools.libdevice(FakeHost(), TENSORFLOW).path is None
