"""TensorFlow has no package for this platform, or none that can use a GPU.

Symptom:
    - ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)
    - tf.test.is_built_with_cuda() is False on 64-bit ARM (GH200, GB200, DGX Spark, Jetson)
    /lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.27' not found (required by libtensorflow_framework.so.2)
Cause:
    The packages on PyPI are for x86-64 and 64-bit ARM, for the GNU C library (not Alpine's musl) of 2.27 or newer, and for 64-bit
    Python. Those for ARM contain no GPU code, although pip installs NVIDIA's libraries with them without a warning.
Verify:
    python -c 'import tensorflow as tf; print(tf.test.is_built_with_cuda())' prints True.
Unless:
    TensorFlow was built from source for this platform and works.
Example:
    system.architecture = "aarch64"
    tensorflow.built_with_cuda = false
    tensorflow.cuda_version = null
    tensorflow.cudnn_version = null
    tensorflow.compute_capabilities = []
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow's packages for 64-bit ARM (aarch64) have no GPU code, so the NVIDIA GPU of this machine can't be used with them.
References:
    https://www.tensorflow.org/install/pip
"""

import re

from gpucheck.core.combiners.gpu_presence import GpuPresence
from gpucheck.core.combiners.tensorflow_build import CUDA_SUPPORT_UNKNOWN, TensorFlowBuild
from gpucheck.core.compat import images, versions
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.system import System
from gpucheck.core.repairs.context import Context

_ARCHITECTURES = ("x86_64", "aarch64", "amd64", "arm64")
_MUSL = r"(?i)musl|Error relocating|Error loading shared library ld-linux"


@rule(
    scope=Scope.ENVIRONMENT,
    explains=(
        "tensorflow-not-installed",
        "tensorflow-import-failed",
        "tensorflow-cpu-build",
        "gpu-too-old",
        "gpu-too-new",
        "cuda-libraries-missing",
        "cuda-libraries-unreachable",
        "cuda-version-mismatch",
        "cudnn-missing",
        "ptxas-missing",
        "libdevice-missing",
        "gpus-not-listed",
        "training-failed",
        "training-crashed",
        "cpu-fallback",
    ),
    tensorflow=True,
)
def check(
    system: System, presence: GpuPresence, interpreter: Interpreter, build: TensorFlowBuild, context: Context
) -> Finding | Skip | None:
    """Report that no wheel exists, or on ARM none that can use this GPU, unless an import succeeded."""
    if system.platform != "linux":
        return None  # macos-no-cuda and windows-native-unsupported
    reason = _no_package(system, interpreter, build)
    if reason is not None:
        return Finding(
            summary=f"TensorFlow has no package for this platform: {reason[0]}.",
            evidence=(*saw(system, "architecture", "glibc", "musl", "os_name"), *saw(interpreter, "bits")),
            fix=repairs(context, why=reason[1]),
        )
    if system.architecture != "aarch64" or build.packages.tensorflow is None or build.lists_gpu:
        return None
    if not presence.present:
        return presence.skip
    if build.built_with_cuda is None:
        return CUDA_SUPPORT_UNKNOWN
    if build.built_with_cuda:
        return None
    return Finding(
        summary="TensorFlow's packages for 64-bit ARM (aarch64) have no GPU code, so the NVIDIA GPU of this machine can't be used"
        " with them.",
        evidence=(
            *saw(system, "architecture"),
            *saw(build.packages, "tensorflow.name", "tensorflow.version"),
            *saw(build.tensorflow, "built_with_cuda"),
        ),
        fix=repairs(context, why="arm"),
    )


def _no_package(system: System, interpreter: Interpreter, build: TensorFlowBuild) -> tuple[str, str] | None:
    """Return why no package works here, as text and as argument of ``repairs``; None if TensorFlow was imported."""
    tensorflow, installed = build.tensorflow, build.packages.tensorflow
    if tensorflow is not None and tensorflow.imported:
        return None
    old = _old_glibc(system, build.packages)
    if tensorflow is None and installed is not None:
        return old  # it may have been built from source, which only the import shows
    return _no_wheel(system, interpreter) or old


def _no_wheel(system: System, interpreter: Interpreter) -> tuple[str, str] | None:
    """Return why no wheel can be installed, as text and as argument of ``repairs``."""
    if system.musl:
        return f"{system.os_name or 'this system'} uses the musl C library, but the packages need glibc", "musl"
    if interpreter.bits == 32:
        return "this Python is a 32-bit program", "32-bit"
    if system.architecture is not None and system.architecture.lower() not in _ARCHITECTURES:
        return f"there are none for {system.architecture}", "machine"
    return None


def _old_glibc(system: System, packages: Packages) -> tuple[str, str] | None:
    """Return why the C library is too old for the wheels, for example in an environment shared between machines."""
    installed = packages.tensorflow
    release = releases.release(installed.version) if installed and "+" not in installed.version else releases.RELEASES["2.10"]
    if release is None or not system.glibc or versions.at_least(system.glibc, release.glibc_floor):
        return None
    what = f"TensorFlow {installed.version} needs" if installed else "every package needs"
    return f"{what} glibc {release.glibc_floor} or newer, but this system has {system.glibc}", "glibc"


def repairs(context: Context, *, why: str = "", version: str = "", machine: str = "", package: str = "", text: str = "") -> Fixes:
    """Use another system, or another build.

    Args:
        context: what is known about the machine.
        why: "musl", "glibc", "32-bit", "machine" (no package for it), "arm" (none with GPU code); empty: see the other arguments.
        version: the required version of the C library: "GLIBC_2.27".
        machine: the processor's architecture.
        package: a package without a wheel for this platform.
        text: the line that reports it.
    """
    arm = why == "arm" or "aarch64" in machine
    if of_package := list(_of_package(context, package, text, arm=arm)):
        yield from of_package
        return
    if why == "32-bit" or (context.windows and not why):
        yield Fix(text="Install a 64-bit Python, and create a new environment with it")
        return
    if why == "musl" or re.search(_MUSL, text):
        yield Fix(text="Use an image or a distribution with glibc, such as python:3.12-slim instead of an Alpine image")
    elif why == "glibc" or version.startswith("GLIBC"):
        needed = f" ({version.replace('_', ' ')} or newer)" if version else ""
        yield Fix(text=f"Use a newer distribution{needed}, or a container image with one")
    elif machine.startswith("armv"):
        yield Fix(text="Install a 64-bit operating system: TensorFlow has packages for aarch64, and none for 32-bit ARM")
    elif "supported wheel" in text:
        by_name = "Install it by name, so that pip chooses the wheel for this Python and this platform"
        yield Fix(text=by_name, command=context.pip(context.framework or "tensorflow"))
    elif not arm:
        yield Fix(text="Use an x86-64 machine, or build TensorFlow from source")
    if (arm or why == "glibc" or version) and not context.excludes(framework="tensorflow"):
        image = images.NAME if arm else "tensorflow/tensorflow:latest-gpu"
        what = "NVIDIA's own build for ARM, which supports GPUs: the" if arm else "TensorFlow's own"
        command = None if context.in_container else f"docker run --gpus all -it {image}"
        yield Fix(text=f"{'Or use' if not arm else 'Use'} {what} image {image}", command=command)
    if why == "arm":
        yield Fix(text="Or train on the CPU with the GPU hidden", command="CUDA_VISIBLE_DEVICES=-1 gpucheck --allow-cpu")


def _of_package(context: Context, package: str, text: str, *, arm: bool) -> Fixes:
    """Yield the fixes for a package that is made for other systems."""
    if package in ("tensorflow-macos", "tensorflow-metal"):
        yield Fix(text=f"Install tensorflow: {package} is for macOS only", command=context.pip("tensorflow"))
    elif package == "tensorflow" and re.search(r"on macOS \(\W?macosx\w*arm64", text):
        yield Fix(text="Require a release that has packages for Macs with Apple silicon", command=context.pip("tensorflow>=2.16"))
    elif package.startswith("nvidia-") and not arm:
        yield Fix(
            text="Install TensorFlow's GPU packages on Linux with glibc, or in WSL2: NVIDIA has no packages for other systems"
        )
        yield Fix(text="To train on the CPU, install TensorFlow without them", command=context.pip("tensorflow"))
    elif "required-environments" in text:
        this = "win32" if "on Windows" in text else "linux"
        named = f"required-environments = [\"sys_platform == '{this}'\"]"
        yield Fix(
            text=f"Allow uv to choose a release of {package} that has a wheel for this system: [tool.uv] {named} in pyproject.toml"
        )
        yield Fix(text=f"Or use another system, for which the newest {package} has a wheel")
    elif context.windows and package.startswith("tensorflow-"):
        yield Fix(text=f"Install it in WSL2: {package} has no packages for Windows, except old ones", command="wsl --install")
        yield Fix(text="Or use TensorFlow without it on Windows")
