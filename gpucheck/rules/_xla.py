"""What XLA needs beside TensorFlow's own libraries, and how a tool of it is missed: ptxas and libdevice are alike in that."""

from collections.abc import Callable

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.model import Evidence, Finding, Fix, Severity, Skip, saw
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.packages import Packages
from gpucheck.probes.training import Training
from gpucheck.rules._commands import xla_tools
from gpucheck.rules._gpus import absent
from gpucheck.rules._tensorflow import NO_TENSORFLOW_LIBRARIES
from gpucheck.rules._training import trained_on_gpu

# A pasted log does not tell the TensorFlow, nor its CUDA.
INSTALL_TOOLS = Fix(text="Install NVIDIA's compiler tools", command='python -m pip install "nvidia-cuda-nvcc-cu12>=12.5,<13.0"')
WITHOUT_XLA = Fix(text="Or do without XLA, in your code: model.compile(..., jit_compile=False)")


def missing_tool(
    here: bool | None,
    interpreter: Interpreter,
    packages: Packages,
    libraries: Libraries,
    training: Training | None,
    *,
    tool: str,
    named: str,
    need: str,
    told: tuple[Evidence, ...],
    found_by: Callable[[str], str],
) -> Finding | Skip | None:
    """A tool that is not where XLA looks, unless a compiled step on a GPU went well without it.

    Args:
        here: whether a GPU is here (``common.gpu_here``).
        interpreter: whose pip installs it.
        packages: which wheels are there.
        libraries: where the tools were found.
        training: what was trained, if anything.
        tool: its field of ``Libraries``.
        named: what it is called.
        need: what XLA does with it: "needs it for the GPU".
        told: what a log says of it.
        found_by: the command that lets XLA find the copy at a path.
    """
    if not here:
        return absent(here)
    if libraries.tensorflow is None:
        return NO_TENSORFLOW_LIBRARIES
    found = libraries.ptxas if tool == "ptxas" else libraries.libdevice
    if found.path or trained_on_gpu(training, compiled=True):
        return None
    known = releases.release(libraries.tensorflow)
    copies = found.elsewhere
    where = f" (a copy lies at {copies[0]}, where it does not look)" if copies else ""
    reach = [Fix(text="Let it be found, in the shell that starts Python", command=found_by(copies[0]))] if copies else []
    return Finding(
        summary=f"{named} is {'not found' if copies else 'not installed'}{where}, and XLA, with which Keras 3 compiles models by"
        f" default, {need}.",
        evidence=(*saw(libraries, f"{tool}.path", f"{tool}.elsewhere"), *told),
        fix=(
            *reach,
            xla_tools(interpreter, packages, libraries.tensorflow),
            WITHOUT_XLA,
        ),
        # Keras 2 compiles with XLA only where it is told to.
        severity=None if known is None or versions.at_least(known.minor, "2.16") else Severity.WARNING,
    )
