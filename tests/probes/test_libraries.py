"""The libraries of this machine; imaginary machines are in tests/cases/probes/libraries.txt."""

import pathlib
import sys
import sysconfig
import time

import pytest
from fakes import NOWHERE
from site_packages import QUICK, SITE, site
from tiny_elf import library, needs_cc, truncated

from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.compat import libraries as tables
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes import interpreter, libraries, packages

pytestmark = needs_cc


class HostOf(LocalHost):
    """This machine, with a given interpreter to examine."""

    def __init__(self, examined, *args, **options):
        super().__init__(*args, **options)
        self.examined = examined

    def interpreter(self):
        return self.examined


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's loader")
def test_truncated_library_is_reported_and_the_others_are_opened(tmp_path):
    """With real files and a real child: opening the truncated library causes SIGBUS, and the others are still opened."""
    for path, data in site(**{f"{SITE}/nvidia/cublas/lib/libcublas.so.12": truncated(library("libcublas.so.12"))}).items():
        file = tmp_path / path[1:]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    examined = Interpreter(**{**NOWHERE, "prefix": f"{tmp_path}/venv", "path": (f"{tmp_path}{SITE}",)})
    with HostOf(examined, Request(), env={"PATH": "/usr/bin"}) as host:
        found = {one.soname: one for one in libraries.read(host).libraries}
    assert (found["libcublas.so.12"].problem, found["libcublas.so.12"].opened) == ("truncated", False)
    assert found["libcublas.so.12"].open_error == "killed by SIGBUS"
    assert found["libcudnn.so.9"].opened is True


@pytest.mark.tensorflow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RUNPATH")
def test_libraries_of_the_installed_tensorflow(capsys):
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
