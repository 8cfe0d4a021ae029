"""The user's expectations of this machine, and the result of each."""

from gpucheck.core.expectations.items import Item, Machine
from gpucheck.core.model import Fact, Request, combiner
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.libraries import Libraries
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training


class Expected(Fact, frozen=True, kw_only=True):
    """The expectations of each kind: met, not met, or not checked."""

    given: bool  # whether there are any expectations
    gpu_count: tuple[Item, ...] = ()
    gpu_models: tuple[Item, ...] = ()
    version: tuple[Item, ...] = ()
    training: tuple[Item, ...] = ()
    environment: tuple[Item, ...] = ()


@combiner
def combine(
    request: Request,
    cuda: Cuda | None,
    driver: Driver | None,
    environment: Environment | None,
    gpus: Gpus | None,
    interpreter: Interpreter | None,
    keras: Keras | None,
    libraries: Libraries | None,
    packages: Packages | None,
    tensorflow: TensorFlow | None,
    training: Training | None,
) -> Expected:
    """Compare the expectations with the facts; if a fact is missing, the expectation is unknown, not unmet."""
    if request.expectations is None and request.promised is None:
        return Expected(given=False)
    from gpucheck.core.expectations import gpus as expected_gpus
    from gpucheck.core.expectations import training as expected_training
    from gpucheck.core.expectations import versions

    machine = Machine(request, cuda, driver, gpus, interpreter, keras, libraries, packages, tensorflow, training, environment)
    return Expected(
        given=True,
        gpu_count=tuple(expected_gpus.gpu_count(machine)),
        gpu_models=tuple(expected_gpus.gpu_models(machine)),
        version=tuple(versions.version(machine)),
        training=tuple(expected_training.training(machine)),
        environment=tuple(versions.environment(machine)),
    )
