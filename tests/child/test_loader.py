import shutil
import subprocess
import sys

import pytest
from lab.fake_driver import COMPILER

from gpucheck.core.child.loader import load

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the loader's messages are those of Linux")


def open_one(name, symbol="cos"):
    return load({sys.platform: str(name)}, symbol)


def test_loaded_library_has_its_path():
    library, loaded = open_one("libm.so.6")
    assert library is not None
    assert loaded.status == "loaded"
    assert loaded.library.endswith("/libm.so.6")


def test_missing_library_is_not_found():
    library, loaded = open_one("libnowhere.so.1")
    assert library is None
    assert loaded.status == "library-not-found"
    assert loaded.problem == "libnowhere.so.1: cannot open shared object file: No such file or directory"
    assert loaded.library is None


@pytest.mark.parametrize("size", [0, 16, 40])
def test_truncated_library_is_unusable(driver_folder, tmp_path, size):
    broken = tmp_path / "libcuda.so.1"
    broken.write_bytes((driver_folder / "libcuda.so.1").read_bytes()[:size])
    library, loaded = open_one(broken)
    assert library is None
    assert loaded.status == "library-unusable"
    assert loaded.library == str(broken)
    assert "file too short" in loaded.problem


def test_text_file_is_unusable(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("# not a library, but long enough to hold a header\n" * 20)
    _, loaded = open_one(tmp_path / "libcuda.so.1")
    assert loaded.status == "library-unusable"
    assert "invalid ELF header" in loaded.problem


def test_library_with_a_missing_dependency_is_unusable(tmp_path):
    if COMPILER is None:
        pytest.skip("no C compiler")
    (tmp_path / "empty.c").write_text("int nothing;")
    needed, needing = tmp_path / "libneeded.so.1", tmp_path / "libneeding.so.1"
    compile_shared = [COMPILER, "-shared", "-fPIC", str(tmp_path / "empty.c"), "-o"]
    subprocess.run([*compile_shared, str(needed), "-Wl,-soname,libneeded.so.1"], check=True)
    subprocess.run([*compile_shared, str(needing), "-Wl,--no-as-needed", str(needed)], check=True)
    shutil.move(needed, tmp_path / "elsewhere")
    _, loaded = open_one(needing)
    assert loaded.status == "library-unusable"
    assert "libneeded.so.1" in loaded.problem


def test_library_without_the_function_is_unusable():
    library, loaded = open_one("libm.so.6", symbol="cuInit")
    assert library is None
    assert loaded.status == "library-unusable"
    assert "cuInit" in loaded.problem


def test_library_for_another_system_is_not_found():
    library, loaded = load({"win32": "nvml.dll"}, "nvmlInit_v2")
    assert library is None
    assert loaded.status == "library-not-found"
    assert "linux" in loaded.problem
