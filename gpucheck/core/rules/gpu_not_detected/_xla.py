"""The check and the repairs that ptxas and libdevice share: tools that XLA needs in addition to TensorFlow's libraries."""

import re

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.combiners.xla_toolkit import XlaToolkit
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Assignment, Finding, Fix, Fixes, Operation, Severity, Skip, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.libraries import Libraries
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._cuda_builds import jax_build
from gpucheck.core.system.shells import statement

_WITHOUT_XLA = Fix(text="Or disable XLA in your code: model.compile(..., jit_compile=False)")
_DATA_FOLDER = r"""--xla_gpu_cuda_data_dir=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)\s*"""
_FIRST_WITH_WHEELS = "2.14"  # before that, XLA does not search pip's folders
_OF_CONDA = 'export XLA_FLAGS="--xla_gpu_cuda_data_dir=$CONDA_PREFIX${XLA_FLAGS:+ $XLA_FLAGS}"'
# By the field of ``Libraries``: the name of the file, and why XLA needs it.
_TOOLS = {"libdevice": ("libdevice.10.bc", "links it into every GPU kernel"), "ptxas": ("ptxas", "needs it for the GPU")}
_TOOLKIT = {
    "libdevice": 'export XLA_FLAGS="--xla_gpu_cuda_data_dir=/usr/local/cuda${XLA_FLAGS:+ $XLA_FLAGS}"',
    "ptxas": 'export PATH="/usr/local/cuda/bin:$PATH"',
}


def missing_tool(
    field: str,
    faults: LibraryFaults,
    outcomes: TrainingOutcomes,
    toolkit: XlaToolkit,
    environment: Environment | None,
    context: Context,
) -> Finding | Skip | None:
    """Report a tool that XLA can't find, unless a compiled step on a GPU passed without it."""
    libraries = faults.libraries
    if not faults.presence.present:
        return faults.presence.skip
    if libraries.tensorflow is None:
        return faults.unknown
    file = getattr(libraries, field)
    if file.path or outcomes.trained_on_gpu(compiled=True):
        return None
    name, need = _TOOLS[field]
    release = releases.release(libraries.tensorflow)
    copies = file.elsewhere
    where = f" (XLA does not search the folder of {copies[0]})" if copies else ""
    of_toolkit = _of_toolkit(toolkit.folder, libraries, environment) if toolkit.folder and environment is not None else None
    assignment = of_toolkit or (_reach(field, copies[0]) if copies else None)
    return Finding(
        summary=f"{name} is {'not found' if copies else 'not installed'}{where}; XLA, which Keras 3 uses by"
        f" default to compile models, {need}.",
        evidence=(*saw(libraries, f"{field}.path", f"{field}.elsewhere"), *outcomes.saw_events(f"{field}-missing")),
        fix=tool_repairs(context, field, assignment),
        assignments=() if of_toolkit is None else (of_toolkit,),
        # Keras 2 compiles with XLA only on request.
        severity=None if release is None or versions.at_least(release.minor, "2.16") else Severity.WARNING,
    )


def _of_toolkit(folder: str, libraries: Libraries, environment: Environment) -> Assignment:
    """Return the assignment that makes XLA search a toolkit."""
    flag = f"--xla_gpu_cuda_data_dir={_flag_value(folder)}"
    lacking = [name for name, tool in (("ptxas", libraries.ptxas), ("libdevice", libraries.libdevice)) if tool.path is None]
    reason = f"XLA does not search the folder of {listing(lacking)}"
    flags = environment.variables.get("XLA_FLAGS", "")
    kept = re.sub(_DATA_FOLDER, "", flags).strip()
    operation = Operation.PREPEND
    if kept != flags.strip():  # if the flag is repeated, the last one applies
        operation, flag = Operation.SET, f"{flag} {kept}".strip()
        reason = f"{reason}, and the flag's current folder has none"
    return Assignment(variable="XLA_FLAGS", operation=operation, value=flag, reason=reason)


def _flag_value(folder: str) -> str:
    """Quote a folder if needed: XLA splits its flags at spaces (tsl/util/command_line_flags, parse_flags_from_env)."""
    if not re.search(r"[\s'\"\\]", folder):
        return folder
    return '"' + re.sub(r'(["\\])', r"\\\1", folder) + '"'


def _reach(field: str, copy: str) -> Assignment:
    """Return the assignment that makes XLA find this copy, if no complete toolkit matches."""
    variable, value = "PATH", copy.rpartition("/")[0]
    if field == "libdevice":
        variable, value = "XLA_FLAGS", f"--xla_gpu_cuda_data_dir={copy.partition('/nvvm/')[0]}"
    return Assignment(variable=variable, operation=Operation.PREPEND, value=value, reason=f"{field} is there")


def tool_repairs(context: Context, field: str, assignment: Assignment | None = None, searched: bool = False) -> Fixes:
    """Make XLA find the installed copy, or install one on its search path.

    Args:
        context: what is known about the machine.
        field: "ptxas" or "libdevice".
        assignment: the assignment that makes XLA find a copy; None if unknown.
        searched: whether XLA also searched the toolkit's usual folder.
    """
    if assignment is not None:
        yield Fix(text="Make XLA find it, in the shell that starts Python", command=statement(assignment))
    if context.excludes(framework="tensorflow|torch"):
        yield jax_build(context)
    else:
        yield _compiler(context)
    if context.interpreter is None and not searched:
        toolkit = Fix(text="Or set the folder of an installed toolkit before Python starts", command=_TOOLKIT[field])
        yield from context.only(toolkit, system="linux|wsl", notebook="")
    if not context.excludes(framework="tensorflow"):
        yield _WITHOUT_XLA


def _compiler(context: Context) -> Fix:
    """Install NVIDIA's compiler from pip, or from conda if TensorFlow does not search pip's packages."""
    version = context.installed.get("tensorflow", context.framework_version)
    release = releases.release(version or "")
    old = context.framework_before is not None or (
        release is not None and not versions.at_least(release.minor, _FIRST_WITH_WHEELS)
    )
    by_conda = context.manager == "conda" or context.windows or (old and not context.notebook)
    if context.interpreter is not None or not by_conda:
        return context.xla_tools(version)
    cuda = "11.8" if old or context.windows else release.cuda if release is not None else "12.5"
    command = f"conda install -y -c nvidia cuda-nvcc={cuda}"
    return Fix(
        text=f"Install NVIDIA's compiler tools for CUDA {cuda.partition('.')[0]}{'' if context.manager == 'conda' else ', with conda'}",
        command=command if context.windows else f"{command} && {_OF_CONDA}",
        needs=("network",),
    )
