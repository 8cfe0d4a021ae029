"""What the user expects of this machine, and what comes of each expectation."""

from gpucheck.engine.plugin import combiner
from gpucheck.expectations.items import Item, Machine
from gpucheck.model import Fact, Request
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.keras import Keras
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.packages import Packages
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training


class Expected(Fact, frozen=True, kw_only=True):
    """The expectations of each kind, met, not met, or not looked at."""

    given: bool  # whether there are any expectations
    gpu_count: tuple[Item, ...] = ()
    gpu_models: tuple[Item, ...] = ()
    version: tuple[Item, ...] = ()
    training: tuple[Item, ...] = ()


@combiner
def combine(
    request: Request,
    cuda: Cuda | None,
    driver: Driver | None,
    gpus: Gpus | None,
    interpreter: Interpreter | None,
    keras: Keras | None,
    libraries: Libraries | None,
    packages: Packages | None,
    tensorflow: TensorFlow | None,
    training: Training | None,
) -> Expected:
    """What was not observed makes its expectations unknown, not unmet."""
    if request.expectations is None and request.promised is None:
        return Expected(given=False)
    from gpucheck.expectations import gpus as expected_gpus
    from gpucheck.expectations import training as expected_training
    from gpucheck.expectations import versions

    machine = Machine(request, cuda, driver, gpus, interpreter, keras, libraries, packages, tensorflow, training)
    return Expected(
        given=True,
        gpu_count=tuple(expected_gpus.gpu_count(machine)),
        gpu_models=tuple(expected_gpus.gpu_models(machine)),
        version=tuple(versions.version(machine)),
        training=tuple(expected_training.training(machine)),
    )
