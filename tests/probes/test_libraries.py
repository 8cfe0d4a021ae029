import pathlib
import sys
import sysconfig
import time

import pytest
from fakes import NOWHERE, FakeHost
from site_packages import INTERPRETER, QUICK, SITE, WHEELS, site
from tiny_elf import aarch64, library, needs_cc, truncated

from gpucheck.child.messages.interpreter import Interpreter
from gpucheck.compat import libraries as tables
from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes import interpreter, libraries, packages
from gpucheck.probes.libraries import Libraries, Tool

pytestmark = needs_cc


def read(files, **settings):
    host = FakeHost(files, interpreter=INTERPRETER, **{"request": QUICK, **settings})
    fact = libraries.read(host)
    return fact, {one.soname: one for one in fact.libraries}


def test_2_21_reaches_every_wheel_but_cusolver():
    fact, found = read(site())
    assert fact.tensorflow == "2.21.0"
    assert fact.loader == f"{SITE}/tensorflow/libtensorflow_framework.so.2"
    assert f"{SITE}/nvidia/cudnn/lib" in fact.runpath
    assert len(fact.runpath) == 18
    solver = found.pop("libcusolver.so.11")
    assert solver.path is None
    assert solver.elsewhere == (f"{SITE}/nvidia/cusolver/lib/libcusolver.so.11",)
    required = [one for one in found.values() if one.required]
    assert {(one.path, one.source, one.problem) for one in required} == {
        (f"{SITE}/nvidia/{folder}/lib/{name}", "RUNPATH", None)
        for folder, name in [
            ("cuda_runtime", "libcudart.so.12"),
            ("cublas", "libcublas.so.12"),
            ("cublas", "libcublasLt.so.12"),
            ("cufft", "libcufft.so.11"),
            ("cusparse", "libcusparse.so.12"),
            ("cudnn", "libcudnn.so.9"),
        ]
    }
    assert found["libcudnn.so.9"].version == "9.3.0.75"
    assert found["libcublasLt.so.12"].version == "12.5.3.2"
    assert found["libcupti.so.12"].path is None


def test_the_repair_is_seen():
    fact, found = read(site(), env={"LD_LIBRARY_PATH": f"{SITE}/nvidia/cusolver/lib"})
    assert fact.library_path == (f"{SITE}/nvidia/cusolver/lib",)
    solver = found["libcusolver.so.11"]
    assert (solver.source, solver.version, solver.elsewhere) == ("LD_LIBRARY_PATH", "11.6.3.83", ())


def test_a_decoy_wins_and_the_wheels_copy_is_elsewhere():
    decoy = "/opt/cudnn/libcudnn.so.9"
    files = site(**{"/opt/cudnn/libcudnn.so.9.1.0": library("libcudnn.so.9")})
    fact, found = read(files, links={decoy: "libcudnn.so.9.1.0"}, env={"LD_LIBRARY_PATH": "/opt/cudnn"})
    cudnn = found["libcudnn.so.9"]
    assert (cudnn.path, cudnn.source, cudnn.version) == (decoy, "LD_LIBRARY_PATH", "9.1.0")
    assert cudnn.elsewhere == (f"{SITE}/nvidia/cudnn/lib/libcudnn.so.9",)
    assert fact.cudnn_parts_missing == libraries.CUDNN_PARTS


@pytest.mark.parametrize(
    ("damage", "problem"),
    [(lambda good: b"", "empty"), (truncated, "truncated"), (aarch64, "built for aarch64"), (lambda _: b"?", "not a library")],
)
def test_a_damaged_copy(damage, problem):
    path = f"{SITE}/nvidia/cufft/lib/libcufft.so.11"
    _, found = read(site(**{path: damage(library("libcufft.so.11"))}))
    assert (found["libcufft.so.11"].path, found["libcufft.so.11"].problem) == (path, problem)


def test_a_toolkit_that_the_loader_does_not_know_is_elsewhere():
    toolkit = "/usr/local/cuda-12.5/targets/x86_64-linux/lib/libcudart.so.12"
    _, found = read(site(wheels={}, **{toolkit: library("libcudart.so.12")}))
    assert found["libcudart.so.12"].path is None
    assert found["libcudart.so.12"].elsewhere == (toolkit,)


def test_runtimes_of_other_majors():
    more = {
        "/usr/local/cuda-13.0/lib64/libcudart.so.13.0.88": library("libcudart.so.13"),
        "/usr/local/cuda-12.5/lib64/libcudart.so.12.5.82": library("libcudart.so.12"),
    }
    links = {
        "/usr/local/cuda-13.0/lib64/libcudart.so.13": "libcudart.so.13.0.88",
        "/usr/local/cuda-12.5/lib64/libcudart.so.12": "libcudart.so.12.5.82",
    }
    fact, _ = read(site(**more), links=links)
    assert fact.other_versions == ("/usr/local/cuda-13.0/lib64/libcudart.so.13",)


def test_missing_parts_of_cudnn():
    files = site()
    del files[f"{SITE}/nvidia/cudnn/lib/libcudnn_adv.so.9"]
    del files[f"{SITE}/nvidia/cudnn/lib/libcudnn_engines_precompiled.so.9"]
    fact, _ = read(files)
    assert fact.cudnn_parts_missing == ("libcudnn_adv.so.9", "libcudnn_engines_precompiled.so.9")
    assert read(site())[0].cudnn_parts_missing == ()
    assert read(site(wheels={}))[0].cudnn_parts_missing == ()


def test_a_file_name_without_a_version_tells_none():
    _, found = read(site(**{"/opt/libcudnn.so.9": library("libcudnn.so.9")}), env={"LD_LIBRARY_PATH": "/opt"})
    assert (found["libcudnn.so.9"].path, found["libcudnn.so.9"].version) == ("/opt/libcudnn.so.9", None)


def test_two_wheels_of_one_folder_leave_the_version_open():
    files = site(**{f"{SITE}/nvidia_cudnn_cu13-9.15.1.9.dist-info/METADATA": ""})
    assert read(files)[1]["libcudnn.so.9"].version is None


def test_tools():
    fact, _ = read(site())
    assert fact.ptxas == Tool(path=f"{SITE}/nvidia/cuda_nvcc/bin/ptxas", version="12.5.82")
    assert fact.libdevice.path == f"{SITE}/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"


def test_a_build_without_cuda_needs_nothing():
    fact, found = read(site("2.20.0", "tensorflow-cpu"))
    assert (fact.tensorflow, found, fact.ptxas) == ("2.20.0", {}, Tool())
    arm = ("Linux", "6.8.0", "aarch64")
    assert read(site(), uname=arm)[1] == {}
    assert read(site("2.17.0+nv25.2"), uname=arm)[1] != {}


def test_a_release_without_a_table_needs_what_the_newest_does():
    _, found = read(site("2.23.0.dev20270101", "tf-nightly"))
    assert "libcudnn.so.9" in found


def test_an_unreadable_framework_has_the_search_path_of_its_release():
    files = site("2.20.0", **{f"{SITE}/tensorflow/libtensorflow_framework.so.2": b""})
    fact, found = read(files)
    assert fact.loader is None
    assert found["libcusolver.so.11"].path == f"{SITE}/nvidia/cusolver/lib/libcusolver.so.11"
    unknown = site("2.9.0", **{f"{SITE}/tensorflow/libtensorflow_framework.so.2": b""})
    assert read(unknown)[1] == {}  # not "missing": where it would look is not known


def test_conda_keeps_the_framework_in_its_own_lib():
    shared, link = "/venv/lib/libtensorflow_framework.so.2", f"{SITE}/tensorflow/libtensorflow_framework.so.2"
    files = site("2.20.0", wheels={}, **{shared: library("framework", "$ORIGIN/.", rpath=True)})
    del files[link]
    fact, found = read({**files, "/venv/lib/libcudart.so.12": library("libcudart.so.12")}, links={link: shared})
    assert (fact.loader, fact.runpath) == (shared, ("/venv/lib",))
    assert (found["libcudart.so.12"].path, found["libcudart.so.12"].source) == ("/venv/lib/libcudart.so.12", "RPATH")


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_only_linux(platform):
    assert read(site(), platform=platform)[0] == Libraries()


def test_no_tensorflow():
    assert read({f"{SITE}/numpy-2.3.5.dist-info/METADATA": ""})[0] == Libraries()


def test_an_interpreter_without_an_account_fails_the_probe():
    host = FakeHost(interpreter="not started: no such file", request=Request(python="/no/python"))
    with pytest.raises(Exception, match=r"^/no/python could not be examined: not started: no such file$"):
        libraries.read(host)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's loader")
def test_a_truncated_library_on_this_machine(tmp_path):
    """Real files, a real child: opening the truncated one dies of SIGBUS, and the others are opened all the same."""
    for path, data in site(**{f"{SITE}/nvidia/cublas/lib/libcublas.so.12": truncated(library("libcublas.so.12"))}).items():
        file = tmp_path / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    with LocalHost(Request(), env={"PATH": "/usr/bin"}) as host:
        host._interpreter = Interpreter(**{**NOWHERE, "prefix": f"{tmp_path}/venv", "path": (f"{tmp_path}{SITE}",)})
        found = {one.soname: one for one in libraries.read(host).libraries}
    assert (found["libcublas.so.12"].problem, found["libcublas.so.12"].opened) == ("truncated", False)
    assert found["libcublas.so.12"].open_error == "killed by SIGBUS"
    assert found["libcudnn.so.9"].opened is True


@pytest.mark.tensorflow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RUNPATH")
def test_the_installed_tensorflow(capsys):
    if not list(pathlib.Path(sysconfig.get_paths()["purelib"]).glob("tensorflow-2.21.0.dist-info")):
        pytest.skip("TensorFlow 2.21.0 is not installed")
    with LocalHost(QUICK) as host:
        for module in (interpreter, packages, libraries):
            module.read(host)  # warm: file cache and imports
        started = time.perf_counter()
        for module in (interpreter, packages, libraries):
            fact = module.read(host)
        seconds = time.perf_counter() - started
    with capsys.disabled():
        print(f"\n  interpreter, packages and libraries: {seconds * 1000:.1f} ms")
    assert fact.tensorflow == "2.21.0"
    assert len(fact.runpath) == 18
    assert any(folder.endswith("site-packages/nvidia/cusparse/lib") for folder in fact.runpath)
    assert not any("cusolver" in folder for folder in fact.runpath)
    assert [one.soname for one in fact.libraries if one.required] == [
        one.soname for one in tables.libraries("2.21") if one.required
    ]


def test_xla_folders_only_where_xla_lacks_something():
    toolkit = {
        f"/usr/local/cuda-{version}/{path}": "x"
        for version in ("12.3", "13.0", "9.0", "12.10")
        for path in ("bin/ptxas", "nvvm/libdevice/libdevice.10.bc")
    }
    toolkit["/opt/half/bin/ptxas"] = "x"
    env = {"CUDA_HOME": "/opt/half/"}
    assert read(site(**toolkit), env=env)[0].xla_folders == ()
    without = {name: version for name, version in WHEELS.items() if name != "cuda_nvcc"}
    fact, _ = read(site(wheels=without, **toolkit), env=env)
    assert (fact.ptxas.path, fact.libdevice.path) == (None, None)
    assert fact.xla_folders == (  # newest first, without the one that XLA passes over
        Tool(path="/usr/local/cuda-13.0", version="13.0"),
        Tool(path="/usr/local/cuda-12.10", version="12.10"),
        Tool(path="/usr/local/cuda-12.3", version="12.3"),
    )
    alone = site(wheels=without, **toolkit, **{f"{SITE}/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc": "x"})
    assert read(alone, env=env)[0].xla_folders[0] == Tool(path="/opt/half")  # it has what is lacking


@pytest.mark.parametrize("flag", ['--xla_gpu_cuda_data_dir="/opt/a cuda"', "--xla_gpu_cuda_data_dir='/opt/a cuda/'"])
def test_a_data_folder_with_a_blank(flag):
    without = {name: version for name, version in WHEELS.items() if name != "cuda_nvcc"}
    files = site(wheels=without, **{"/opt/a cuda/bin/ptxas": "x", "/opt/a cuda/nvvm/libdevice/libdevice.10.bc": "x"})
    fact, _ = read(files, env={"XLA_FLAGS": f"--xla_a=1 {flag} --xla_b=2"})
    assert (fact.ptxas.path, fact.libdevice.path) == ("/opt/a cuda/bin/ptxas", "/opt/a cuda/nvvm/libdevice/libdevice.10.bc")
    assert read(files, env={"XLA_FLAGS": "--xla_a='1"})[0].ptxas.path is None  # half a quote
