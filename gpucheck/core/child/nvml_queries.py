"""NVML queries, each of which may fail separately. The result is then None: an unsupported query is not a fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpucheck.core.child.messages.drivers import Failure

LIBRARIES = {"linux": "libnvidia-ml.so.1", "win32": "nvml.dll"}

# nvmlReturn_t after which a GPU's answers can't be trusted: external power missing, driver not loaded, interrupts
# lost, fallen off the bus, reset required, blocked by the system, version mismatch.
LOST = (8, 9, 11, 15, 16, 17, 18)
OTHER_FORM = (13, 25, 26)  # function not found, argument version mismatch, deprecated: an older function may answer

NO_VALUE = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)  # NVML_VALUE_NOT_AVAILABLE


class GpuLost(Exception):
    """A GPU whose answers can no longer be trusted."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.problem)
        self.failure = failure


def failure_of(pynvml: Any, error: Any) -> Failure:
    """Convert an NVMLError."""
    code = int(error.value)
    names = (name for name in dir(pynvml) if name.startswith("NVML_ERROR_") and getattr(pynvml, name) == code)
    try:
        words = pynvml.NVMLError._errcode_to_string[code]
    except (AttributeError, KeyError):
        words = _decoded(pynvml.nvmlErrorString(code))
    return Failure(code, next(names, None), words)


class Queries:
    """NVML queries about the machine or one GPU; each may fail separately."""

    def __init__(self, pynvml: Any, *handle: Any) -> None:
        """Query the GPU of that handle, or the machine without one."""
        self.pynvml, self.handle = pynvml, handle

    def ask(self, names: str, *args: Any, convert: Callable[[Any], Any] | None = None) -> Any:
        """The result of the first function that both NVML and pynvml support; None: none does.

        Raises:
            GpuLost: the GPU's answers can no longer be trusted.
        """
        for name in names.split("|"):
            function: Any = getattr(self.pynvml, name, None)
            function = getattr(function, "__wrapped__", function)  # without pynvml's decoding, which fails on invalid text
            try:
                value = _decoded(function(*self.handle, *args))
                if value in NO_VALUE:
                    return None
                return convert(value) if convert else value
            except self.pynvml.NVMLError as error:
                if self.handle and error.value in LOST:
                    raise GpuLost(failure_of(self.pynvml, error)) from error
                if error.value not in OTHER_FORM:
                    return None
            except Exception:  # noqa: S112
                continue  # pynvml's versions differ in names and arguments: the next function may work
        return None


def _decoded(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
