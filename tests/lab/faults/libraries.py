"""CUDA libraries as pip, a toolkit, a module file or a full disk leave them."""

import shutil

from lab import fake_driver
from lab.bench import NO_SMOKE, Fault, Trial
from lab.environments import foreign, truncated
from lab.machines import Machine

DECOYS = "decoys"


def clean(trial: Trial) -> None:
    """TensorFlow 2.21.0 as pip installs it: nothing tells the loader where cuSOLVER lies."""
    trial.env["LD_LIBRARY_PATH"] = ""


def without(*patterns: str):
    """Files or wheels that are not there."""

    def build(trial: Trial) -> None:
        trial.own_environment().drop(*patterns)

    return build


def own(path: str, content):
    """A file of NVIDIA's wheels with other content."""

    def build(trial: Trial) -> None:
        environment = trial.own_environment()
        file = environment.nvidia / path
        environment.replace(f"nvidia/{path}", content(file) if callable(content) else content)

    return build


def first(name: str, content):
    """A file of that name in a folder that LD_LIBRARY_PATH puts first."""

    def build(trial: Trial) -> None:
        folder = trial.folder / DECOYS
        folder.mkdir()
        (source,) = trial.environment.nvidia.glob(f"*/lib/{name}")
        (folder / name).write_bytes(content(source) if callable(content) else content)
        trial.search_first(folder)

    return build


def decoy_cudnn(full: str):
    """A cuDNN of another version first on LD_LIBRARY_PATH, all its parts beside it, as an administrator lays it down."""

    def build(trial: Trial) -> None:
        folder = trial.folder / DECOYS
        folder.mkdir()
        for library in (trial.environment.nvidia / "cudnn/lib").glob("*.so.9"):
            versioned = folder / f"{library.name.removesuffix('9')}{full}"
            shutil.copyfile(library, versioned)
            (folder / library.name).symlink_to(versioned.name)
        trial.search_first(folder)

    return build


def toolkit(major: int):
    """A CUDA toolkit of another major on LD_LIBRARY_PATH, and none of pip's wheels."""

    def build(trial: Trial) -> None:
        environment = trial.own_environment()
        environment.drop("nvidia", "nvidia_*.dist-info")
        folder = trial.folder / f"cuda-{major}/lib64"
        folder.mkdir(parents=True)
        for name in (f"libcudart.so.{major}", f"libcublas.so.{major}", f"libcublasLt.so.{major}"):
            fake_driver.compile_library(folder / name, "int nothing;\n")
        trial.env["LD_LIBRARY_PATH"] = str(folder)

    return build


def cudnn_8_only(trial: Trial) -> None:
    """cuDNN's wheel of major 8."""
    environment = trial.own_environment()
    environment.drop("nvidia/cudnn/lib/*", "nvidia_cudnn_cu12-*.dist-info")
    environment.package("nvidia_cudnn_cu12", "8.9.7.29")
    fake_driver.compile_library(environment.nvidia / "cudnn/lib/libcudnn.so.8", "int nothing;\n")


def toolkit_elsewhere(trial: Trial) -> None:
    """Without pip's wheels, cuSOLVER lies in a conda environment's folder that nobody searches."""
    environment = trial.own_environment()
    (environment.folder / "lib/libcusolver.so.11").write_bytes(
        (environment.nvidia / "cusolver/lib/libcusolver.so.11").read_bytes()
    )
    environment.drop("nvidia/cusolver/lib/libcusolver.so.11")
    trial.env["LD_LIBRARY_PATH"] = ""


def needs_another(trial: Trial) -> None:
    """cuSOLVER needs a library that is nowhere, as where somebody removed nvJitLink's wheel."""
    environment = trial.own_environment()
    environment.drop("nvidia/cusolver/lib/libcusolver.so.11")
    needed = trial.folder / "libnvJitLink.so.12"
    fake_driver.compile_library(needed, "int nothing_at_all;\n")
    fake_driver.compile_library(
        environment.nvidia / "cusolver/lib/libcusolver.so.11", "int nothing;\n", "-Wl,--no-as-needed", needed
    )
    environment.drop("nvidia/nvjitlink", "nvidia_nvjitlink_*.dist-info")
    needed.unlink()


FAULTS = (
    Fault("clean-2.21.0-with-and-cuda", "cuda-libraries-unreachable", build=clean),
    Fault("clean-2.21.0-tensorflow-asked", "cuda-libraries-unreachable", level=NO_SMOKE, build=clean),
    Fault(
        "clean-2.21.0-log-silenced", "cuda-libraries-unreachable", level=NO_SMOKE, build=clean, env={"TF_CPP_MIN_LOG_LEVEL": "3"}
    ),
    Fault("cusolver-only-in-the-environments-lib", "cuda-libraries-unreachable", build=toolkit_elsewhere),
    Fault("no-wheels-at-all", "cuda-libraries-missing", machine=Machine(), build=without("nvidia", "nvidia_*.dist-info")),
    Fault(
        "no-wheels-tensorflow-asked",
        "cuda-libraries-missing",
        level=NO_SMOKE,
        machine=Machine(),
        build=without("nvidia", "nvidia_*.dist-info"),
    ),
    Fault(
        "libcudart-missing",
        "cuda-libraries-missing",
        machine=Machine(),
        build=without("nvidia/cuda_runtime", "nvidia_cuda_runtime_*.dist-info"),
    ),
    Fault("libcufft-file-deleted", "cuda-libraries-missing", build=without("nvidia/cufft/lib/*")),
    Fault("nvjitlink-missing-for-cusolver", "cuda-libraries-missing", level=NO_SMOKE, build=needs_another),
    Fault("cudnn-missing", "cudnn-missing", build=without("nvidia/cudnn", "nvidia_cudnn_*.dist-info")),
    Fault("cudnn-part-missing", "cudnn-missing", build=without("nvidia/cudnn/lib/libcudnn_engines_precompiled.so.9")),
    Fault("cudnn-missing-tensorflow-asked", "cudnn-missing", level=NO_SMOKE, build=without("nvidia/cudnn/lib/*")),
    Fault("cudnn-8-only", "cudnn-version-mismatch", build=cudnn_8_only),
    Fault("cuda-11-only", "cuda-version-mismatch", build=toolkit(11)),
    Fault("cuda-13-only", "cuda-version-mismatch", build=toolkit(13)),
    Fault("cudnn-9.1-first", "library-path-conflict", build=decoy_cudnn("9.1.0")),
    Fault("cudnn-9.14-first", "library-path-conflict", exit=0, build=decoy_cudnn("9.14.0")),
    Fault("empty-libcudart-first", "library-path-conflict", build=first("libcudart.so.12", b"")),
    Fault("truncated-libcufft-first", "library-path-conflict", build=first("libcufft.so.11", truncated)),
    Fault(
        "text-instead-of-libcusparse-first",
        "library-path-conflict",
        build=first("libcusparse.so.12", b"version https://git-lfs.github.com/spec/v1\n"),
    ),
    Fault("wheels-libcublas-empty", "library-corrupt", build=own("cublas/lib/libcublas.so.12", b"")),
    Fault("wheels-libcufft-truncated", "library-corrupt", build=own("cufft/lib/libcufft.so.11", truncated)),
    Fault("wheels-libcudnn-built-for-aarch64", "library-corrupt", build=own("cudnn/lib/libcudnn.so.9", foreign)),
    Fault(
        "wheels-libcublas-empty-tensorflow-asked", "library-corrupt", level=NO_SMOKE, build=own("cublas/lib/libcublas.so.12", b"")
    ),
    Fault("ptxas-missing", "ptxas-missing", machine=Machine(), build=without("nvidia/cuda_nvcc/bin")),
    Fault("libdevice-missing", "libdevice-missing", machine=Machine(), build=without("nvidia/cuda_nvcc/nvvm")),
    Fault(
        "compiler-tools-missing",
        ("ptxas-missing", "libdevice-missing"),
        machine=Machine(),
        build=without("nvidia/cuda_nvcc", "nvidia_cuda_nvcc_*.dist-info"),
    ),
    Fault("foreign-library-first-is-passed-over", (), exit=0, build=first("libcufft.so.11", foreign)),
)
