"""The CUDA toolkit on this machine that XLA could use if it finds none by itself."""

from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Fact, combiner
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.libraries import CudaTool, Libraries


class XlaToolkit(Fact, frozen=True, kw_only=True):
    """The toolkit for XLA."""

    folder: str | None  # None: none fits, or XLA needs none


@combiner
def combine(libraries: Libraries, driver: Driver | None) -> XlaToolkit:
    """Choose the toolkit whose ptxas fits best, if ptxas or libdevice is missing."""
    lacking = libraries.ptxas.path is None or libraries.libdevice.path is None
    return XlaToolkit(folder=_toolkit(libraries, driver) if lacking else None)


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
