"""TensorFlow's package and its Python: not installed, installed for another one, retired, or with none for this Python."""

import pytest
from fakes import machine
from installed import ABSENT, PYTHON
from one_rule import QUICK, changed, found, roots, status

from gpucheck.model import Severity, Status


def test_without_tensorflow_nothing_trains_on_a_cpu_neither():
    plain = changed(ABSENT, "laptop-cpu")
    assert roots(plain) == ["tensorflow-not-installed"]
    assert found("tensorflow-not-installed", plain).fix[0].command == f"{PYTHON} -m pip install tensorflow"
    with_gpu = found("tensorflow-not-installed", changed(ABSENT))
    assert with_gpu.fix[0].command == f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.20.*"'


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        (
            {"interpreter.externally_managed": True},
            f"{PYTHON} -m venv ~/tensorflow-env && ~/tensorflow-env/bin/python -m pip install tensorflow",
        ),
        ({"interpreter.pip_version": None}, f"{PYTHON} -m ensurepip --upgrade && {PYTHON} -m pip install tensorflow"),
        ({"interpreter.executable": "/my apps/python"}, '"/my apps/python" -m pip install tensorflow'),
    ],
    ids=["externally-managed", "no-pip", "blank"],
)
def test_pip_command_works_for_this_interpreter(changes, command):
    plain = changed({**ABSENT, **changes}, "laptop-cpu")
    assert found("tensorflow-not-installed", plain).fix[0].command == command


def test_source_tree_without_metadata_is_not_called_absent():
    folder = {**ABSENT, "packages.tensorflow_folder": "/src/tensorflow", **QUICK}
    assert status("tensorflow-not-installed", changed(folder, "laptop-cpu")) is Status.SKIPPED
    imported = {**ABSENT, "tensorflow": machine("laptop-cpu")["tensorflow"]}
    assert status("tensorflow-not-installed", changed(imported, "laptop-cpu")) is Status.CLEAR


OTHERS = [
    {"executable": "/usr/bin/python3.11", "tensorflow": "tensorflow 2.18.0"},
    {"executable": "/home/user/ml/bin/python", "tensorflow": "tensorflow 2.21.0"},
]


def test_other_interpreter_is_the_root_and_the_active_environment_comes_first():
    changes = {**ABSENT, "interpreter.others": OTHERS, "interpreter.active_environment": "/home/user/ml"}
    plain = changed({**changes, "interpreter.version": "3.14.0"}, "laptop-cpu")
    assert roots(plain) == ["wrong-environment"]
    finding = found("wrong-environment", plain)
    assert "2.21.0 is installed for /home/user/ml/bin/python (and 1 more)" in finding.summary
    assert finding.fix[0].command == "gpucheck --python /home/user/ml/bin/python"


def test_other_interpreters_do_not_matter_where_tensorflow_is():
    assert status("wrong-environment", changed({"interpreter.others": OTHERS})) is Status.CLEAR


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({**ABSENT, "interpreter.implementation": "pypy"}, "needs CPython"),
        ({**ABSENT, "interpreter.version": "3.6.9"}, "2.21 is for Python 3.10 to 3.13"),
        ({"interpreter.version": "3.9.2", **QUICK}, "tensorflow 2.21.0 needs Python >=3.10, and this is Python 3.9.2."),
    ],
)
def test_python_outside_the_range(changes, words):
    plain = changed(changes, "laptop-cpu")
    assert roots(plain) == ["python-unsupported"]
    assert words in found("python-unsupported", plain).summary


def test_python_that_imports_it_is_supported():
    assert status("python-unsupported", changed({"interpreter.version": "3.9.2"}, "laptop-cpu")) is Status.CLEAR
    assert status("python-unsupported", changed({**ABSENT, "interpreter.version": "3.9.2"}, "laptop-cpu")) is Status.CLEAR


def test_retired_package_alone():
    old = [{"name": "tensorflow-gpu", "version": "2.10.1", "folder": "/x"}]
    assert found("tensorflow-gpu-package-removed", changed({"packages.flavours": old})).severity is None
    empty = {**ABSENT, "packages.flavours": old}
    finding = found("tensorflow-gpu-package-removed", changed(empty))
    assert finding.severity is Severity.ERROR
