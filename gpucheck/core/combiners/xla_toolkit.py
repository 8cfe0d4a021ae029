"""The CUDA toolkit on this machine that XLA could use if it finds none by itself."""

import re

from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Assignment, Fact, Operation, combiner
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.libraries import CudaTool, Libraries

_DATA_FOLDER = r"""--xla_gpu_cuda_data_dir=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)\s*"""


class XlaToolkit(Fact, frozen=True, kw_only=True):
    """The variable that makes XLA find it; None: no toolkit fits, or XLA needs none."""

    assignment: Assignment | None


@combiner
def combine(libraries: Libraries, driver: Driver | None, environment: Environment | None) -> XlaToolkit:
    """Choose the toolkit whose ptxas fits best, if ptxas or libdevice is missing."""
    lacking = [name for name, tool in (("ptxas", libraries.ptxas), ("libdevice", libraries.libdevice)) if tool.path is None]
    folder = _toolkit(libraries, driver) if lacking else None
    if folder is None or environment is None:
        return XlaToolkit(assignment=None)
    flag = f"--xla_gpu_cuda_data_dir={_flag_value(folder)}"
    reason = f"XLA does not search the folder of {listing(lacking)}"
    flags = environment.variables.get("XLA_FLAGS", "")
    kept = re.sub(_DATA_FOLDER, "", flags).strip()
    operation = Operation.PREPEND
    if kept != flags.strip():  # if the flag is repeated, the last one applies
        operation, flag = Operation.SET, f"{flag} {kept}".strip()
        reason = f"{reason}, and the flag's current folder has none"
    return XlaToolkit(assignment=Assignment(variable="XLA_FLAGS", operation=operation, value=flag, reason=reason))


def _toolkit(libraries: Libraries, driver: Driver | None) -> str | None:
    """Return the folder of TensorFlow's CUDA version, else of any version that the driver supports."""
    release = releases.release(libraries.tensorflow or "")
    newest = versions.parse(driver.cuda_version)[:1] if driver is not None and driver.cuda_version else None

    def major(tool: CudaTool) -> tuple[int, ...]:
        return versions.parse(tool.version or "")[:1]

    fitting = [tool for tool in libraries.xla_folders if tool.path and tool.path.isprintable()]
    fitting = [tool for tool in fitting if newest is None or not major(tool) or major(tool) <= newest]
    own = [tool for tool in fitting if release is not None and major(tool) == (release.cuda_major,)]
    return next((tool.path for tool in [*own, *fitting]), None)


def _flag_value(folder: str) -> str:
    """Quote a folder if needed: XLA splits its flags at spaces (tsl/util/command_line_flags, parse_flags_from_env)."""
    if not re.search(r"[\s'\"\\]", folder):
        return folder
    return '"' + re.sub(r'(["\\])', r"\\\1", folder) + '"'
