"""The examined interpreter and its packages, and what repairs of them depend on."""

from gpucheck.core.model import Fact
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context


class Installation(Fact, frozen=True, kw_only=True):
    """An interpreter and what is installed for it."""

    interpreter: Interpreter
    packages: Packages
    context: Context


@combiner
def combine(interpreter: Interpreter, packages: Packages, context: Context) -> Installation:
    """Both, or nothing: an interpreter without its packages does not show what is missing."""
    return Installation(interpreter=interpreter, packages=packages, context=context)
