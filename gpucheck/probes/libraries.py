"""The shared libraries the installed TensorFlow opens: which copy wins for each, where others lie, and whether it is sound.

The search order is the loader's own: LD_LIBRARY_PATH, the RUNPATH of the library that calls dlopen
(libtensorflow_framework.so.2), the ld.so cache, the default folders.
"""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Library(Fact, frozen=True, kw_only=True):
    """One soname that TensorFlow opens."""

    soname: str  # "libcusolver.so.11"
    required: bool  # TensorFlow registers no GPU without it
    package: str | None = None  # the wheel that brings it: "nvidia-cusolver-cu12"
    path: str | None = None  # the copy the loader takes; None: it finds none
    source: str | None = None  # "LD_LIBRARY_PATH", "RUNPATH", "ld.so.cache", "default"
    version: str | None = None  # from the resolved file's name, or its wheel: "9.3.0"
    problem: str | None = (
        None  # of the file that wins: "empty", "truncated", "not a library", "built for aarch64", "unreadable"
    )
    elsewhere: tuple[str, ...] = ()  # copies the loader does not take: the wheel's own, a toolkit's
    opened: bool | None = None  # dlopen succeeded in a child; None: not tried (--quick)
    open_error: str | None = None  # dlerror's words, or how the child ended


class Tool(Fact, frozen=True, kw_only=True):
    """A program or data file that XLA needs, found where TensorFlow looks for it."""

    path: str | None = None
    version: str | None = None
    elsewhere: tuple[str, ...] = ()


class Libraries(Fact, frozen=True, kw_only=True):
    """Only where a TensorFlow is installed on Linux; otherwise ``tensorflow`` is None and the rest is empty."""

    tensorflow: str | None = None  # version whose needs these are
    loader: str | None = None  # the library whose RUNPATH counts
    runpath: tuple[str, ...] = ()  # its entries, $ORIGIN resolved
    library_path: tuple[str, ...] = ()  # LD_LIBRARY_PATH, split
    libraries: tuple[Library, ...] = ()
    cudnn_parts_missing: tuple[str, ...] = ()  # cuDNN 9's own parts that do not lie beside the winning libcudnn.so.9
    ptxas: Tool = Tool()
    libdevice: Tool = Tool()


@probe(level=Level.QUICK)
def read(host: Host) -> Libraries:
    """Resolve each soname from the ELF headers and the search path; above --quick, open each one in a child too."""
    raise NotImplementedError
