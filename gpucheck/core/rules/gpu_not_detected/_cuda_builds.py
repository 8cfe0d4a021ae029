"""Repairs that install the CUDA libraries of the failed program, for its framework and CUDA version."""

import re

from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Fix, Fixes
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import word

# CUDA version -> the TensorFlow releases that use it, and the conda packages (tensorflow.org/install/source).
# These releases, except for 2.14, do not find CUDA libraries that pip installed.
_BEFORE_WHEELS = {
    "9.0": ("TensorFlow 1.5 to 1.12 was built for", "cudatoolkit=9.0 cudnn=7"),
    "10.0": ("TensorFlow 1.13 to 2.0 was built for", "cudatoolkit=10.0 cudnn=7"),
    "10.1": ("TensorFlow 2.1 to 2.3 was built for", "-c conda-forge cudatoolkit=10.1 cudnn=7"),
    "11.0": ("TensorFlow 2.4 was built for", "-c conda-forge cudatoolkit=11.0 cudnn=8.0"),
    "11.2": ("TensorFlow 2.5 to 2.11 was built for", "-c conda-forge cudatoolkit=11.2 cudnn=8.1"),
    "11.8": ("TensorFlow 2.5 to 2.14 can use", "-c conda-forge cudatoolkit=11.8 cudnn=8"),
}
INSTALL_LAST_ON_WINDOWS = (  # the last TensorFlow with GPU support on native Windows, from conda
    "conda create -y -n tensorflow -c conda-forge python=3.10 cudatoolkit=11.2 cudnn=8.1"
    f' && conda run -n tensorflow python -m pip install "tensorflow=={releases.LAST_ON_WINDOWS}.*" "numpy<2"'
)
_RUNTIME = r"(?i)cudart(?:\.so\.|64_)(\d+(?:\.\d+)?)"
_OTHERS = r"(?i)cu(?:blas|blaslt|sparse)(?:\.so\.|64_)(\d+(?:\.\d+)?)"
_CUSOLVER_10 = r"(?i)cusolver(?:\.so\.|64_)10"  # only CUDA 11.0 has it together with a runtime numbered 11
_WITH_CUDNN_7 = "10.1"
_CUDNN_FOLDER = (
    "export LD_LIBRARY_PATH=\"$(python -c 'import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0])')"
    '/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"'
)


def toolkit(sonames: str) -> str:
    """Return the CUDA version of these libraries: "10.1" for libcudart.so.10.1, "11" for cudart64_110.dll; "" if unknown."""
    match = re.search(_RUNTIME, sonames) or re.search(_OTHERS, sonames)
    if match is None:
        return _WITH_CUDNN_7 if re.search(r"cudnn(?:\.so\.|64_)7", sonames) else ""
    number = match[1]
    if "." not in number and int(number) >= 80:  # Windows
        number = f"{number[:-1]}.{number[-1]}"
    major = int(number.partition(".")[0])
    if major >= 11:
        return "11.0" if major == 11 and re.search(_CUSOLVER_10, sonames) else str(major)
    return "10.1" if number == "10" else number


def cuda_build(context: Context, needed: str = "") -> Fixes:
    """Install the failed program's framework with the CUDA libraries it was built for; if it is unknown, yield a fix for each.

    Args:
        context: what is known about the machine.
        needed: the CUDA version of the libraries that the program requested, as ``toolkit`` returns it; empty if unknown.
    """
    if not context.excludes(framework="tensorflow"):
        yield from _tensorflow(context, needed)
    if context.interpreter is not None and context.framework is None:
        return  # on a live machine, the rule examines TensorFlow
    yield from context.only(jax_build(context), framework="jax")
    yield from context.only(torch_build(context), framework="torch")


def installed_build(context: Context) -> Fixes:
    """Install the CUDA libraries of the installed TensorFlow, or the newest release that works on this machine."""
    own, newest = context.cuda_libraries(), context.with_cuda()
    yield own
    if newest.command != own.command:
        yield newest


def jax_build(context: Context) -> Fix:
    """Install JAX with NVIDIA's libraries from pip."""
    if context.windows:
        return Fix(text="JAX has no GPU support on native Windows: install it in WSL2 (wsl --install), as jax[cuda12]")
    return Fix(
        text="Install matching releases of JAX, its CUDA plugin and the CUDA libraries",
        command=context.pip("--upgrade", f"jax[{context.jax_extra}]"),
    )


def torch_build(context: Context, cuda: str = "") -> Fix:
    """Install PyTorch with its libraries; for Windows, PyPI has only the CPU build."""
    if cuda and (context.gpus is not None or context.driver is not None):
        return context.with_cuda("torch", configured=True)
    index = f"cu{cuda}" if cuda else "cu126" if context.windows else ""
    options = ["--index-url", f"https://download.pytorch.org/whl/{index}"] if index else []
    return Fix(
        text="Install a PyTorch build with CUDA" if cuda else "Reinstall PyTorch with its CUDA libraries",
        command=context.pip("--force-reinstall", "torch", *options),
    )


def conda_build() -> Fix:
    """Install TensorFlow with CUDA from conda-forge, on a machine whose driver conda may not detect."""
    command = 'CONDA_OVERRIDE_CUDA=12.0 conda install -y -c conda-forge "tensorflow=*=cuda*"'
    return Fix(text="Or, if conda installed TensorFlow: install conda-forge's CUDA build", command=command, needs=("network",))


def cudnn_build(context: Context, cuda: str, specifier: str, package: str = "nvidia-cudnn-cu12") -> Fix:
    """Install cuDNN for a CUDA version ("11", "12") where TensorFlow's loader finds it; from 12 on, install this package."""
    if cuda != "11":
        return Fix(
            text="Install a compatible cuDNN (other frameworks in this environment share it: check that they support it)",
            command=context.pip("--upgrade", f"{package}{specifier}"),
        )
    if context.windows or context.manager == "conda":
        return Fix(
            text="Install a compatible cuDNN for CUDA 11",
            command=f"conda install -y -c conda-forge {word(f'cudnn{specifier}')}",
            needs=("network",),
        )
    install = context.pip("--upgrade", f"nvidia-cudnn-cu11{specifier}")
    return Fix(
        text="Install a compatible cuDNN for CUDA 11, and add it to the loader's search path: this release does not search pip's folders",
        command=f"{install} && {_CUDNN_FOLDER}",
    )


def _tensorflow(context: Context, needed: str) -> Fixes:
    release = releases.release(context.framework_version or "")
    if release is not None and not release.and_cuda and needed in ("", "11"):
        needed = "11.8" if versions.at_least(release.minor, "2.12") else "11.2"
    elif needed == "11" or (not needed and (context.windows or context.framework_before)):
        needed = "11.2" if context.windows else "11.8"
    if needed not in _BEFORE_WHEELS or (release is not None and release.and_cuda):
        yield context.cuda_libraries()
        if context.manager == "conda":
            yield conda_build()
        return
    old, current = _of_conda(context, needed), _current(context)
    first_old = context.manager == "conda" or context.windows or versions.parse(needed)[0] < 11
    yield from (old, *current) if first_old else (*current, old)


def _of_conda(context: Context, needed: str) -> Fix:
    built, packages = _BEFORE_WHEELS[needed]
    text = f"Install the CUDA {needed} libraries, which {built}"
    command = f"conda install -y {packages}"
    if not context.windows:
        text += ", and add them to the loader's search path"
        command += ' && export LD_LIBRARY_PATH="$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"'
    return Fix(text=text if context.manager == "conda" else f"{text}, with conda", command=command, needs=("network",))


def _current(context: Context) -> Fixes:
    """Install a release that includes its CUDA libraries."""
    if context.windows:
        yield Fix(text="Or train in WSL2 (wsl --install), where current releases use the GPU")
    elif context.notebook or context.interpreter is not None:
        yield context.cuda_libraries()
    else:
        yield Fix(
            text="Install a current TensorFlow with its CUDA libraries in a new environment",
            command=context.new_environment(releases.recommended(), python="3.12"),
        )
