"""The printed commands create a new, writable folder, and do not reinstall a working combination."""

import os

import pytest
from fakes import NOWHERE, FakeHost

from gpucheck.commands.setup import this_machine
from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.child.messages.machine import Interpreter
from gpucheck.core.host import Disk
from gpucheck.core.model import Request
from gpucheck.core.probes.packages import Distribution, Packages, Requirement
from gpucheck.core.solver.machine import Gpu, Machine, Python, Requirements

HOME = {"HOME": "/home/user"}
PYTHON = Interpreter(**{**NOWHERE, "executable": "/env/bin/python", "version": "3.12.3", "prefix": "/env"})
GPU = Machine(driver="580.159", gpus=(Gpu(capability=(8, 0)),), pythons=())
CPU = Machine(pythons=())
CUDNN = Requirement(name="nvidia-cudnn-cu12", specifier=">=9.3", installed="9.3", satisfied=True)


def chosen(*, env=HOME, **fields):
    return this_machine.choose_folder(FakeHost(env=env, **{"folders": ("/home/user", os.getcwd()), **fields}))


def test_existing_folder_is_not_used():
    assert chosen(disks={"/home/user": Disk(total_bytes=9, free_bytes=5)}) == ("~/tensorflow-env", None, 5)
    found = chosen(folders=("/home/user/tensorflow-env/lib", "/home/user/tensorflow-env-2"))
    assert found[:2] == ("~/tensorflow-env-3", "~/tensorflow-env already exists, and is not changed")
    assert chosen(folders=("/home/user",), links={"/home/user/tensorflow-env": "/nowhere"}).folder == "~/tensorflow-env-2"


@pytest.mark.parametrize("fields", [{"unwritable": ("/home/user",)}, {"env": {}}, {"env": {"HOME": "/missing"}}])
def test_folder_is_in_the_current_folder_without_a_writable_home(fields):
    assert chosen(**fields)[:2] == (
        f"{os.getcwd()}/tensorflow-env",
        f"the folder is in {os.getcwd()}, because there is no writable home folder",
    )


def test_unwritable_folder_is_reported():
    assert "cannot be written to: choose another folder" in chosen(unwritable=("/home/user", os.getcwd())).remark


@pytest.mark.parametrize(
    ("user", "os_name", "python", "command"),
    [
        (1000, "Debian GNU/Linux 12", Python(version="3.12.3", executable="python3.12", has_venv=False), "sudo apt install"),
        (0, "Ubuntu 24.04", Python(version="3.12.3", executable="python3.12", has_venv=False), "apt install python3.12-venv"),
        (0, "Fedora Linux 43", Python(version="3.12.3", executable="python3.12", has_venv=False), None),
        (1000, "Ubuntu 24.04", Python(version="3.6.3", executable="python3.6"), "curl -LsSf https://astral.sh/uv/install.sh"),
        (1000, "Ubuntu 24.04", Python(version="3.12.3", executable="python3.12"), None),
    ],
)
def test_prerequisites_come_before_the_commands(user, os_name, python, command):
    machine = Machine(os_name=os_name, pythons=(python,), uv=False)
    seen = this_machine.look(FakeHost(user=user, request=Request()), solve(machine), Requirements(), None, (), None)
    assert [line[: len(command or "")] for line in seen.before] == ([command] if command else [])


def packages(tensorflow="2.20.0", **fields):
    found = Distribution(name="tensorflow", version=tensorflow, folder="/env") if tensorflow else None
    keras = Distribution(name="keras", version="3.12.0", folder="/env")
    return Packages(
        **{"tensorflow": found, "flavours": (found,) if found else (), "keras": keras, "and_cuda": (CUDNN,), **fields}
    )


def others(**versions):
    return tuple(Distribution(name=name.replace("_", "-"), version=version, folder="/env") for name, version in versions.items())


@pytest.mark.parametrize(
    ("machine", "requirements", "found", "title"),
    [
        (GPU, Requirements(), packages(), "TensorFlow 2.20.0, Python 3.12.3"),
        (CPU, Requirements(), packages("2.16.1", and_cuda=()), "TensorFlow 2.16.1, Python 3.12.3"),
        (GPU, Requirements(cpu=True), packages(and_cuda=()), "TensorFlow 2.20.0, Python 3.12.3"),
        (CPU, Requirements(tensorflow=">=2.20"), packages("2.19.1"), None),
        (CPU, Requirements(python=Python(version="3.13")), packages(), None),
        (GPU, Requirements(), packages(and_cuda=()), None),
        (GPU, Requirements(), packages(and_cuda=(Requirement(name="nvidia-cudnn-cu12", specifier=">=9.3"),)), None),
        (GPU, Requirements(), packages(unmet=(Requirement(name="numpy", specifier="<2"),)), None),
        (CPU, Requirements(), packages(keras=None), None),
        (CPU, Requirements(), packages(None), None),
        (Machine(driver="470.57", gpus=GPU.gpus), Requirements(), packages(), None),
        (Machine(gpus=None), Requirements(), packages(and_cuda=()), None),
        (CPU, Requirements(backend="jax"), packages(None, others=others(jax="0.12.0")), "JAX 0.12.0, Python 3.12.3"),
        (GPU, Requirements(backend="jax"), packages(None, others=others(jax="0.12.0")), None),
        (
            GPU,
            Requirements(backend="jax"),
            packages(None, others=others(jax="0.12", jax_cuda13_plugin="0.12")),
            "JAX 0.12, Python 3.12.3",
        ),
        (
            GPU,
            Requirements(backend="torch"),
            packages(None, others=others(torch="2.15.0+cu130")),
            "PyTorch 2.15.0+cu130, Python 3.12.3",
        ),
        (GPU, Requirements(backend="torch"), packages(None, others=others(torch="2.15.0+cpu")), None),
        (GPU, Requirements(backend="torch"), packages(), None),
    ],
)
def test_working_installed_combination_is_named(machine, requirements, found, title):
    installed = this_machine.find_installed(machine, requirements, found, PYTHON)
    assert (installed.title if installed else None) == title


def test_required_variable_of_an_installed_combination_is_named():
    (needed,) = this_machine.find_installed(GPU, Requirements(), packages("2.21.0"), PYTHON).choice.assignments
    assert needed.variable == "LD_LIBRARY_PATH"


def test_unreadable_installation_is_not_called_working():
    assert this_machine.find_installed(CPU, Requirements(), None, PYTHON) is None
    assert this_machine.find_installed(CPU, Requirements(), packages(), "it does not respond") is None
