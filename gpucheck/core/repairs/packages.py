"""Repairs of the package whose file raised an exception."""

from gpucheck.core.compat.modules import package_of
from gpucheck.core.repairs.context import Context


def newer(context: Context) -> str:
    """Return the command that installs the newest release of the package that raised the exception."""
    module = context.raised_in or ""
    return context.pip("--upgrade", package_of(module) or module)
