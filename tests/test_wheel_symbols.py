"""The reader of tools/check_symbols.py, on libraries compiled by the tests like those of NVIDIA, PyTorch, TensorFlow and JAX."""

import platform
import shutil
import subprocess

import pytest
from wheel_symbols import Symbols, missing, read

CC = shutil.which("cc")
pytestmark = pytest.mark.skipif(
    CC is None or shutil.which("readelf") is None or platform.machine() != "x86_64", reason="needs cc and binutils on x86_64"
)

LIBRARY = "int cublasCreate_v2(void) { return 1; }\nint cublasOld(void) { return 2; }\n"
USER = "int cublasCreate_v2(void); int f(void) { return cublasCreate_v2(); }\n"
STUBS = """
void *_cublas_tramp_table[2];
HIDDEN int cublasCreate_v2(void) { return _cublas_tramp_table[0] != 0; }
HIDDEN int cublasNever(void) { return _cublas_tramp_table[1] != 0; }
HIDDEN int cublasPointed(void) { return 3; }
int (*pointer)(void) = cublasPointed;
int f(void) { return 1 + cublasCreate_v2(); }
"""


@pytest.fixture
def build(tmp_path):
    def build(name, source, *options):
        (tmp_path / f"{name}.c").write_text(source)
        argv = [str(CC), "-shared", "-fPIC", "-O0", "-o", str(tmp_path / name), str(tmp_path / f"{name}.c"), *options]
        subprocess.run(argv, check=True, capture_output=True, timeout=60, cwd=tmp_path)
        return str(tmp_path / name)

    return build


@pytest.fixture
def library(build, tmp_path):
    """A library with versioned symbols, as those of NVIDIA."""
    (tmp_path / "map").write_text("libcublas.so.12 { global: *; };\n")
    return build("libcublas.so.12", LIBRARY, "-Wl,--version-script=map", "-Wl,-soname,libcublas.so.12")


def test_linked_library_needs_the_version_of_the_symbol(build, library):
    user = read(build("user.so", USER, library))
    provides = read(library).provides
    assert user.linked == {"cublasCreate_v2@libcublas.so.12"}
    assert {"cublasCreate_v2@libcublas.so.12", "cublasOld@libcublas.so.12"} <= provides
    assert missing(user.linked, provides) == []
    assert missing(user.linked, frozenset({"cublasCreate_v2@libcublas.so.13"})) == ["cublasCreate_v2@libcublas.so.12"]


def test_name_without_a_version_matches_any_version():
    assert missing(frozenset({"ncclA", "ncclB"}), frozenset({"ncclA@libnccl.so.2"})) == ["ncclB"]


@pytest.mark.parametrize("hidden", ["", "static", '__attribute__((visibility("hidden")))'])
def test_only_stubs_that_are_called_or_pointed_to_are_needed(build, hidden):
    assert read(build("stubs.so", STUBS.replace("HIDDEN", hidden))).called == {"cublasCreate_v2", "cublasPointed"}


def test_library_without_stubs_has_no_called_names(build):
    assert read(build("own.so", STUBS.replace("_cublas_tramp_table", "table").replace("HIDDEN", ""))).called == set()


def test_other_file_has_no_symbols(tmp_path):
    (tmp_path / "text").write_text("no library")
    assert read(str(tmp_path / "text")) == Symbols(frozenset(), frozenset(), frozenset())
