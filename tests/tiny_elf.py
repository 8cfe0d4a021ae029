"""Real shared libraries of a few kilobytes, compiled once per run of the tests."""

import functools
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import pytest

CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler (cc) on PATH")

# Like libtensorflow_framework.so.2, it calls dlopen, so that its own search path applies. ``padding`` adds a page that
# relocation has to touch, so that a truncated copy is killed by SIGBUS, as the large CUDA libraries are.
SOURCE = """
#include <dlfcn.h>
void *open_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
static int padding[50000] = {1};
int *pointer = padding;
"""

# DT_RUNPATH of TensorFlow 2.21.0's wheel, without cuSOLVER's folder.
RUNPATH_2_21 = ":".join(
    f"$ORIGIN/{up}/{folder}"
    for folder in (
        "nvidia/nccl/lib",
        "nvidia/cuda_cupti/lib",
        "nvidia/cublas/lib",
        "nvidia/cudnn/lib",
        "nvidia/cufft/lib",
        "nvidia/cusparse/lib",
        "tensorrt",
        "nvidia/cuda_runtime/lib",
        "nvidia/nvshmem/lib",
    )
    for up in ("../..", "..")
)


@functools.lru_cache
def library(
    soname: str = "libtiny.so.1",
    search_path: str | None = None,
    *,
    rpath: bool = False,
    versions: str = "",
    needs: str = "",
    function: str = "",
) -> bytes:
    """A shared library with that soname, and with DT_RUNPATH (or DT_RPATH) if a search path is given.

    ``versions``: of the symbols that it defines. ``needs``: the soname of a library, and the versions of it that this one needs.
    ``function``: one more symbol, without a version.
    """
    assert CC is not None
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "tiny.c"), pathlib.Path(folder, "tiny.so")
        other, _, needed = needs.partition(" ")
        source.write_text(
            SOURCE
            + "".join(f"void {_symbol(version)}(void) {{}}\n" for version in versions.split())
            + "".join(f"void {_symbol(v)}(void); void use_{_symbol(v)}(void) {{ {_symbol(v)}(); }}\n" for v in needed.split())
            + (f"void {function}(void) {{}}\n" if function else "")
        )
        tags = "--disable-new-dtags" if rpath else "--enable-new-dtags"
        linked = [f"-Wl,{tags}", f"-Wl,-rpath,{search_path}"] if search_path else []
        if versions:
            script = pathlib.Path(folder, "versions.map")
            script.write_text("".join(f"{version} {{ global: {_symbol(version)}; }};\n" for version in versions.split()))
            linked.append(f"-Wl,--version-script,{script}")
        if needs:
            pathlib.Path(folder, other).write_bytes(library(other, versions=needed))
            linked.append(str(pathlib.Path(folder, other)))
        argv = [CC, "-shared", "-fPIC", "-o", str(target), str(source), f"-Wl,-soname,{soname}", *linked, "-ldl"]
        subprocess.run(argv, check=True, capture_output=True)
        return target.read_bytes()


def _symbol(version: str) -> str:
    return "of_" + re.sub(r"\W", "_", version)


def patched(data: bytes, offset: int, new: bytes) -> bytes:
    return data[:offset] + new + data[offset + len(new) :]


def aarch64(data: bytes) -> bytes:
    """The same file, built for another machine: e_machine 183."""
    return patched(data, 18, b"\xb7\x00")


def truncated(data: bytes) -> bytes:
    """The first half: the headers are complete, the segments are not."""
    return data[: len(data) // 2]


def cache(*entries: tuple[str, str], flags: int = 0x0303, before: bytes = b"") -> bytes:
    """A file as ldconfig writes it: (soname, path) pairs."""
    strings, table = b"", b""
    start = 48 + 24 * len(entries)
    for soname, path in entries:
        key = start + len(strings)
        strings += soname.encode() + b"\0"
        value = start + len(strings)
        strings += path.encode() + b"\0"
        table += struct.pack("<IIIIQ", flags, key, value, 0, 0)
    header = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(entries), len(strings))
    return before + header.ljust(48, b"\0") + table + strings
