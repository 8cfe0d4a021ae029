"""Questions to NVML, each of which may fail alone. What is not answered is None: not supported is no fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpucheck.core.child.messages.drivers import Failure

LIBRARIES = {"linux": "libnvidia-ml.so.1", "win32": "nvml.dll"}

# nvmlReturn_t after which a GPU gives no trustworthy answer any more: external power missing, driver gone, interrupts
# lost, fallen off the bus, reset required, blocked by the system, versions mixed.
LOST = (8, 9, 11, 15, 16, 17, 18)
OTHER_FORM = (13, 25, 26)  # function not found, argument version mismatch, deprecated: an older function may answer

NO_VALUE = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)  # NVML_VALUE_NOT_AVAILABLE


class GpuLost(Exception):
    """A GPU that gives no trustworthy answer any more."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.problem)
        self.failure = failure


def failure_of(pynvml: Any, error: Any) -> Failure:
    """An NVMLError in plain words."""
    code = int(error.value)
    names = (name for name in dir(pynvml) if name.startswith("NVML_ERROR_") and getattr(pynvml, name) == code)
    try:
        words = pynvml.NVMLError._errcode_to_string[code]
    except (AttributeError, KeyError):
        words = _decoded(pynvml.nvmlErrorString(code))
    return Failure(code, next(names, None), words)


class Queries:
    """Questions to NVML about the machine, or about one GPU; each may fail alone."""

    def __init__(self, pynvml: Any, *handle: Any) -> None:
        """Ask about the GPU of that handle."""
        self.pynvml, self.handle = pynvml, handle

    def ask(self, names: str, *args: Any, convert: Callable[[Any], Any] | None = None) -> Any:
        """The answer of the first function that NVML and pynvml both know; None: no answer.

        Raises:
            GpuLost: the GPU gives no trustworthy answer any more.
        """
        for name in names.split("|"):
            function: Any = getattr(self.pynvml, name, None)
            function = getattr(function, "__wrapped__", function)  # without pynvml's decoding, which garbage breaks
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
                continue  # pynvml's versions differ in names and arguments: the next form may do
        return None


def _decoded(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
