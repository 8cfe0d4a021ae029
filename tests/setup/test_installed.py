"""A complete environment is not installed again; an incomplete one is not called complete."""

import pytest
from fakes import NOWHERE

from gpucheck.commands.setup.installed import fits
from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.probes._requirements import Requirement
from gpucheck.core.probes.packages import Distribution, Packages
from gpucheck.core.solver.machine import Gpu, Machine, Python, Wishes

PYTHON = Interpreter(**{**NOWHERE, "executable": "/env/bin/python", "version": "3.12.3", "prefix": "/env"})
GPU = Machine(driver="580.159", gpus=(Gpu(capability=(8, 0)),), pythons=())
CPU = Machine(pythons=())
CUDNN = Requirement(name="nvidia-cudnn-cu12", specifier=">=9.3", installed="9.3", satisfied=True)


def packages(tensorflow="2.20.0", **fields):
    found = Distribution(name="tensorflow", version=tensorflow, folder="/env") if tensorflow else None
    keras = Distribution(name="keras", version="3.12.0", folder="/env")
    return Packages(
        **{"tensorflow": found, "flavours": (found,) if found else (), "keras": keras, "and_cuda": (CUDNN,), **fields}
    )


def others(**versions):
    return tuple(Distribution(name=name.replace("_", "-"), version=version, folder="/env") for name, version in versions.items())


@pytest.mark.parametrize(
    ("machine", "wishes", "found", "title"),
    [
        (GPU, Wishes(), packages(), "TensorFlow 2.20.0, Python 3.12.3"),
        (CPU, Wishes(), packages("2.16.1", and_cuda=()), "TensorFlow 2.16.1, Python 3.12.3"),
        (GPU, Wishes(cpu=True), packages(and_cuda=()), "TensorFlow 2.20.0, Python 3.12.3"),
        (CPU, Wishes(tensorflow=">=2.20"), packages("2.19.1"), None),
        (CPU, Wishes(python=Python(version="3.13")), packages(), None),
        (GPU, Wishes(), packages(and_cuda=()), None),
        (GPU, Wishes(), packages(and_cuda=(Requirement(name="nvidia-cudnn-cu12", specifier=">=9.3"),)), None),
        (GPU, Wishes(), packages(unmet=(Requirement(name="numpy", specifier="<2"),)), None),
        (CPU, Wishes(), packages(keras=None), None),
        (CPU, Wishes(), packages(None), None),
        (Machine(driver="470.57", gpus=GPU.gpus), Wishes(), packages(), None),
        (Machine(gpus=None), Wishes(), packages(and_cuda=()), None),
        (CPU, Wishes(backend="jax"), packages(None, others=others(jax="0.12.0")), "JAX 0.12.0, Python 3.12.3"),
        (GPU, Wishes(backend="jax"), packages(None, others=others(jax="0.12.0")), None),
        (
            GPU,
            Wishes(backend="jax"),
            packages(None, others=others(jax="0.12", jax_cuda13_plugin="0.12")),
            "JAX 0.12, Python 3.12.3",
        ),
        (
            GPU,
            Wishes(backend="torch"),
            packages(None, others=others(torch="2.15.0+cu130")),
            "PyTorch 2.15.0+cu130, Python 3.12.3",
        ),
        (GPU, Wishes(backend="torch"), packages(None, others=others(torch="2.15.0+cpu")), None),
        (GPU, Wishes(backend="torch"), packages(), None),
    ],
)
def test_an_installed_combination_that_works_is_named(machine, wishes, found, title):
    installed = fits(machine, wishes, found, PYTHON)
    assert (installed.title if installed else None) == title


def test_a_variable_that_it_needs_is_named():
    (needed,) = fits(GPU, Wishes(), packages("2.21.0"), PYTHON).assignments
    assert needed.variable == "LD_LIBRARY_PATH"


def test_a_partly_read_log_is_not_called_complete():
    assert fits(CPU, Wishes(), None, PYTHON) is None
    assert fits(CPU, Wishes(), packages(), "it does not respond") is None
