"""The examined interpreter and its packages, with the context that their repairs need."""

from gpucheck.core.model import Fact, combiner
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context


class Installation(Fact, frozen=True, kw_only=True):
    """An interpreter and its installed packages."""

    interpreter: Interpreter
    packages: Packages
    context: Context


combine = combiner(Installation)  # without the packages, it is unknown which are missing
