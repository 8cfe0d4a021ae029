"""The facts about this machine that repairs depend on."""

from gpucheck.core.model import Request, combiner
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.system import System
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.repairs.context import Context


@combiner
def combine(
    interpreter: Interpreter | None,
    packages: Packages | None,
    system: System | None,
    wsl: Wsl | None,
    container: Container | None,
    driver: Driver | None,
    gpus: Gpus | None,
    cuda: Cuda | None,
    environment: Environment | None,
    request: Request,
) -> Context:
    """Combine the facts. Any of them except the request may be missing; repairs handle unknown values."""
    slurm = None if environment is None else "slurm" if "SLURM_JOB_ID" in environment.variables else ""
    return Context(
        framework=request.other_backend,
        scheduler=slurm,
        interpreter=interpreter,
        packages=packages,
        system=system,
        wsl=wsl,
        container=container,
        driver=driver,
        gpus=gpus,
        cuda=cuda,
    )
