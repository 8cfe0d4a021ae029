"""Throwaway environments with the real TensorFlow: the running interpreter's packages, and stubs of NVIDIA's wheels.

``clean`` creates an environment as after ``pip install tensorflow[and-cuda]``, and ``Environment.copy`` a copy of it to break. Files
are hard links to the originals, so a fault must unlink a file before it replaces it (``replace``); packages that no fault
breaks are symbolic links.
"""

import base64
import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import sys
import venv

from lab import fake_driver

SITE = pathlib.Path(f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages")
CUDNN_PARTS = ("graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled", "heuristic")
WITHOUT_SYMBOLS = (
    *(f"cudnn/lib/libcudnn_{part}.so.9" for part in CUDNN_PARTS),
    "nccl/lib/libnccl.so.2",
    "cuda_cupti/lib/libcupti.so.12",
    "cuda_nvrtc/lib/libnvrtc.so.12",
)
PTXAS = "#!/bin/sh\necho 'Cuda compilation tools, release 12.5, V12.5.82'\n"


class Environment:
    """A virtual environment: ``python`` is its interpreter, ``site`` its site-packages, ``nvidia`` NVIDIA's folder there."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.site = folder, folder / SITE
        self.python, self.nvidia = folder / "bin/python", folder / SITE / "nvidia"

    @property
    def cusolver(self) -> str:
        """The folder that TensorFlow 2.21.0 does not search."""
        return str(self.nvidia / "cusolver/lib")

    def copy(self, folder: pathlib.Path) -> "Environment":
        """A copy of this environment with its own folders of TensorFlow and NVIDIA."""
        venv.EnvBuilder(symlinks=True).create(folder)
        other = Environment(folder)
        for entry in self.site.iterdir():
            if entry.name in ("tensorflow", "nvidia"):
                link_tree(entry, other.site / entry.name)
            elif entry.name.startswith(("tensorflow-", "nvidia_")):
                shutil.copytree(entry, other.site / entry.name)
            else:
                (other.site / entry.name).symlink_to(entry.resolve())
        return other

    def drop(self, *patterns: str) -> None:
        """Remove matching files from site-packages; a linked package is copied first."""
        for pattern in patterns:
            if "/" in pattern:
                self.own(pattern.split("/")[0])
            found = list(self.site.glob(pattern))
            assert found, f"nothing matches {pattern}"
            for path in found:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def own(self, name: str) -> None:
        """Replace the link to a real package with a copy, which may be broken."""
        package = self.site / name
        if package.is_symlink() and package.is_dir():
            real = package.resolve()
            package.unlink()
            link_tree(real, package)

    def replace(self, path: str, data: bytes | str, mode: int = 0o644) -> pathlib.Path:
        """Replace a file in site-packages."""
        return replace(self.site / path, data, mode)

    def package(self, name: str, version: str, text: str | None = None) -> None:
        """Install a distribution without files, or with one module of this text, and remove others of its name."""
        for entry in [*self.site.glob(f"{name}-*.dist-info"), *((self.site / name,) if text is not None else ())]:
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink(missing_ok=True)
        if text is not None:
            self.replace(f"{name}/__init__.py", text)
        metadata(self.site, name, version, f"{name}/__init__.py")


def replace(path: pathlib.Path, data: bytes | str, mode: int = 0o644) -> pathlib.Path:
    """Replace a file without changing the old one, which may be a hard link to an installed library."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    path.chmod(mode)
    return path


def link_tree(source: pathlib.Path, target: pathlib.Path) -> None:
    """A tree of hard links (copies across file systems); TensorFlow's 20,000 headers are omitted."""

    def link(old: str, new: str) -> None:
        try:
            os.link(old, new)
        except OSError:
            shutil.copy2(old, new)

    shutil.copytree(source, target, symlinks=True, copy_function=link, ignore=shutil.ignore_patterns("include"))


def tensorflow_folder() -> pathlib.Path | None:
    """The folder of the installed TensorFlow if it is a build for Linux."""
    spec = importlib.util.find_spec("tensorflow")
    folder = pathlib.Path(spec.origin).parent if spec and spec.origin else None
    return folder if folder is not None and (folder / "libtensorflow_framework.so.2").exists() else None


def clean(folder: pathlib.Path, tensorflow: pathlib.Path, names: list[str]) -> Environment:
    """An environment as after ``pip install tensorflow[and-cuda]``; ``names`` are the result of ``tensorflow_symbols``."""
    venv.EnvBuilder(symlinks=True).create(folder)
    environment = Environment(folder)
    for entry in tensorflow.parent.iterdir():
        if entry.name.startswith(("__", "nvidia", "keras_gpucheck")) or entry.suffix == ".pth":
            continue  # gpucheck isn't installed there: its child must run without it
        if entry.name == "tensorflow":
            link_tree(entry, environment.site / entry.name)
        elif entry.name.startswith("tensorflow-"):
            shutil.copytree(entry, environment.site / entry.name)
        else:
            (environment.site / entry.name).symlink_to(entry.resolve())
    fake_driver.build_cuda_libraries(environment.site, names)
    for path in WITHOUT_SYMBOLS:
        library = environment.nvidia / path
        library.parent.mkdir(parents=True, exist_ok=True)
        fake_driver.compile_library(library, "int nothing;\n")
    linker = environment.nvidia / "nvjitlink/lib/libnvJitLink.so.12"
    fake_driver.compile_versioned(linker, "int needed_by_cusparse;\n")
    sparse = environment.nvidia / "cusparse/lib/libcusparse.so.12"
    fake_driver.compile_library(
        sparse,
        "extern int needed_by_cusparse;\nint *needed = &needed_by_cusparse;\n" + fake_driver.zeros(names, r"cusparse\w*"),
        *("-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN/../../nvjitlink/lib", linker),
    )
    compiler = environment.nvidia / "cuda_nvcc"
    replace(compiler / "bin/ptxas", PTXAS, 0o755)
    replace(compiler / "nvvm/libdevice/libdevice.10.bc", b"BC\xc0\xde")
    (text,) = (path.read_text() for path in environment.site.glob("tensorflow-*.dist-info/METADATA"))
    for name, version in re.findall(r"^Requires-Dist: (nvidia-[\w-]+).*?[>=]=([\d.]+).*and-cuda", text, re.MULTILINE):
        folder = name.removeprefix("nvidia-").removesuffix("-cu12").replace("-", "_")
        metadata(environment.site, name, version, f"nvidia/{folder}/**/*")
    return environment


def metadata(site: pathlib.Path, name: str, version: str, files: str = "no-files") -> pathlib.Path:
    """Write a distribution's metadata, with the hashes and sizes of its files; return the folder."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    replace(folder / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    replace(folder / "WHEEL", "Wheel-Version: 1.0\nGenerator: lab\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    lines = [
        record_line(site, path) for path in [*sorted(site.glob(files)), folder / "METADATA", folder / "WHEEL"] if path.is_file()
    ]
    replace(folder / "RECORD", "".join(f"{line}\n" for line in [*lines, f"{folder.name}/RECORD,,"]))
    return folder


def record_line(site: pathlib.Path, path: pathlib.Path) -> str:
    """A file's line in RECORD (PEP 376): path, hash, size."""
    data = path.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path.relative_to(site)},sha256={digest},{len(data)}"


def truncated(path: pathlib.Path) -> bytes:
    """The first half of a library, headers included, as after a copy to a full disk."""
    with path.open("rb") as file:
        return file.read(max(4096, min(path.stat().st_size // 2, 1 << 20)))


def foreign(path: pathlib.Path) -> bytes:
    """The library with another machine in its header: EM_AARCH64."""
    data = bytearray(path.read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    return bytes(data)
