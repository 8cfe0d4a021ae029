"""Commands that a fix gives: pip's for the examined interpreter, and what puts CUDA's libraries where TensorFlow finds them."""

from collections.abc import Iterable

from gpucheck.advice.commands import library_path
from gpucheck.advice.shells import word
from gpucheck.compat import libraries as libraries_table
from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.model import Fix
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.packages import Packages

_NEW_ENVIRONMENT = "~/tensorflow-env"


def pip(interpreter: Interpreter, *what: str) -> str:
    """The command that installs into this interpreter: pip is fetched where it is absent, and where it must not be used
    (PEP 668) a new virtual environment takes its place.
    """
    install = " ".join(("-m pip install", *(word(item) for item in what)))
    python = word(interpreter.executable)
    if interpreter.externally_managed:
        return f"{python} -m venv {_NEW_ENVIRONMENT} && {_NEW_ENVIRONMENT}/bin/python {install}"
    if interpreter.pip_version is None:
        return f"{python} -m ensurepip --upgrade && {python} {install}"
    return f"{python} {install}"


def install(interpreter: Interpreter | None, *what: str) -> str:
    """pip's command line, also where only a log is known."""
    return pip(interpreter, *what) if interpreter is not None else f"python -m pip install {' '.join(map(word, what))}"


def cuda_install(interpreter: Interpreter, packages: Packages) -> Fix:
    """Install the CUDA libraries of the installed TensorFlow, with what its release needs besides to find them."""
    installed = packages.tensorflow
    known = releases.release(installed.version) if installed else None
    if (
        installed is None
        or installed.name != "tensorflow"
        or "+" in installed.version
        or known is None
        or not known.and_cuda
        or interpreter.externally_managed
    ):
        return cuda_tensorflow(interpreter)
    command = pip(interpreter, f"tensorflow[and-cuda]=={installed.version}")
    if known.cusolver_reachable:
        return Fix(text=f"Install the CUDA libraries that TensorFlow {installed.version} is built for", command=command)
    return Fix(
        text=f"Install the CUDA libraries of TensorFlow {installed.version}, and name the one folder that this release"
        " forgets to search, in every shell that trains",
        command=f"{command} && {library_path(installed.folder + '/nvidia/cusolver/lib')}",
    )


def reinstall(interpreter: Interpreter, packages: Packages, names: Iterable[str | None]) -> Fix | None:
    """Lay down again the files of those packages that are recorded as installed; None if none is."""
    wanted = set(names)
    pins = sorted({f"{one.name}=={one.version}" for one in packages.nvidia if one.name in wanted})
    if not pins:
        return None
    return Fix(
        text="Lay down the files of the installed package again" if len(pins) == 1 else "Lay down their files again",
        command=pip(interpreter, "--force-reinstall", "--no-deps", "--no-cache-dir", *pins),
    )


def xla_tools(interpreter: Interpreter, packages: Packages, version: str) -> Fix:
    """Install ptxas and libdevice for this TensorFlow: of the CUDA it was built for, or a newer minor."""
    known = releases.release(version)
    package = libraries_table.tools_package(known.minor if known else releases.LATEST) or "nvidia-cuda-nvcc-cu12"
    again = reinstall(interpreter, packages, (package,))
    if again is not None:
        return again
    wanted = f"{package}>={known.cuda},<{known.cuda_major + 1}.0" if known else package
    return Fix(text="Install NVIDIA's compiler tools", command=pip(interpreter, wanted))


def cuda_tensorflow(interpreter: Interpreter) -> Fix:
    """Install the newest TensorFlow for this Python that finds pip's CUDA libraries by itself."""
    wanted = versions.parse(interpreter.version)[:2]
    fitting = [
        known
        for known in releases.RELEASES.values()
        if known.and_cuda
        and known.cusolver_reachable
        and versions.parse(known.python_min) <= wanted <= versions.parse(known.python_max)
    ]
    pin = f"=={fitting[-1].minor}.*" if fitting else ""
    return Fix(
        text="Install a TensorFlow with its CUDA libraries" + (" that it finds by itself" if pin else ""),
        command=pip(interpreter, f"tensorflow[and-cuda]{pin}"),
    )
