"""A project's requirements, compared with the combinations that work on a machine; its files are never executed."""

import pytest
from fakes import FakeHost

from gpucheck.commands.setup import project
from gpucheck.core.solver.machine import Gpu, Machine, Python, Requirements

PYTHONS = tuple(Python(version=version, executable=f"python{version}") for version in ("3.12", "3.11"))
CPU = Machine(pythons=PYTHONS)
AMPERE = Machine(driver="580.159", gpus=(Gpu(capability=(8, 0)),), pythons=PYTHONS)
OLD_DRIVER = Machine(driver="470.57", gpus=(Gpu(capability=(8, 0)),), pythons=PYTHONS)
AFTER_ALL = {
    "requirements.txt": "tensorflow[and-cuda]==2.20.0",
    "environment.yml": '- "tensorflow[and-cuda]==2.20.0"',
    "list": '"tensorflow[and-cuda]==2.20.0"',
    "table": 'tensorflow = { version = "==2.20.0", extras = ["and-cuda"] }',
}


def examined(machine, **files):
    texts = {f"/project/{name.replace('__', '.')}": text for name, text in files.items()}
    return project.examine(FakeHost(texts), "/project", machine, Requirements())


@pytest.mark.parametrize(
    ("name", "text", "line", "change"),
    [
        ("requirements__txt", "numpy\ntensorflow==2.22.1\n", 2, AFTER_ALL["requirements.txt"]),
        ("requirements__txt", "tensorflow-gpu>=2.10,<2.11 # old\n", 1, AFTER_ALL["requirements.txt"]),
        ("requirements__txt", "tensorflow==2.13.1 \\\n    --hash=sha256:00\n", 1, AFTER_ALL["requirements.txt"]),
        (
            "environment__yml",
            "dependencies:\n  - python=3.11\n  - pip:\n    - tensorflow==2.9\n",
            4,
            AFTER_ALL["environment.yml"],
        ),
        ("pyproject__toml", '[project]\ndependencies = ["keras", "tensorflow~=2.12.0"]\n', 2, AFTER_ALL["list"]),
        ("pyproject__toml", '[tool.poetry.dependencies]\ntensorflow = "~2.13"\n', 2, AFTER_ALL["table"]),
        ("pyproject__toml", '[tool.poetry.dependencies]\ntensorflow = {version = "2.13.1"}\n', 2, AFTER_ALL["table"]),
        ("pixi__toml", '[pypi-dependencies]\ntensorflow = { version = "==2.13.*" }\n', 2, AFTER_ALL["table"]),
        ("Pipfile", '[packages]\ntensorflow = "==2.13.1"\n', 2, AFTER_ALL["table"]),
        ("uv__lock", '[[package]]\nname = "tensorflow"\nversion = "2.13.1"\n', None, 'uv add "tensorflow[and-cuda]==2.20.0"'),
        (
            "poetry__lock",
            '[[package]]\nname = "tensorflow"\nversion = "2.13.1"\n',
            None,
            'poetry add "tensorflow[and-cuda]==2.20.0"',
        ),
        (
            "pixi__lock",
            "- kind: pypi\n  name: tensorflow\n  version: 2.13.1\n",
            None,
            'pixi add --pypi "tensorflow[and-cuda]==2.20.0"',
        ),
        (
            "Pipfile__lock",
            '{"default": {"tensorflow": {\n"hashes": [],\n"version": "==2.13.1"}}}',
            None,
            'pipenv install "tensorflow[and-cuda]==2.20.0"',
        ),
    ],
)
def test_failing_requirement_is_reported_with_its_line_and_replacement(name, text, line, change):
    (found,) = examined(AMPERE, **{name: text})
    assert (found.line, found.change) == (line, change)
    assert found.reason


@pytest.mark.parametrize(
    ("machine", "text", "python"),
    [
        (CPU, "tensorflow==2.15.0", "3.11"),
        (CPU, "tensorflow", "3.12"),
        (CPU, "tensorflow-cpu>=2.16,<2.18", "3.12"),
        (AMPERE, "tensorflow[and-cuda]>=2.16,<2.21", "3.12"),
        (AMPERE, "tensorflow[and-cuda]==2.20.0", "3.12"),
    ],
)
def test_working_requirement_is_not_changed(machine, text, python):
    (found,) = examined(machine, requirements__txt=text)
    assert (found.reason, found.change, found.python) == (None, None, python)


def test_replacement_stays_within_the_required_versions():
    (found,) = examined(AMPERE, requirements__txt="tensorflow>=2.16,<2.18")
    assert (found.reason, found.change) == (
        "it comes without CUDA libraries, which TensorFlow needs to use the GPU",
        "tensorflow[and-cuda]==2.17.1",
    )
    (found,) = examined(OLD_DRIVER, requirements__txt="tensorflow[and-cuda]>=2.14")
    assert "CUDA 12 needs driver 525.60.13" in found.reason
    assert found.change.startswith("tensorflow==2.14.1\nnvidia-cuda-runtime-cu11")


def test_requires_python_of_the_project_is_respected():
    (found,) = examined(CPU, pyproject__toml='[project]\nrequires-python = ">=3.9,<3.12"\ndependencies = ["tensorflow>=2.16"]\n')
    assert found.python == "3.11"


def test_unrelated_and_broken_requirements_are_ignored():
    texts = {"requirements__txt": "torch\n# tensorflow==2.1\ntensorflow-datasets\n", "pyproject__toml": "[broken = = \n"}
    assert examined(CPU, **texts) == ()
    assert project.examine(FakeHost(), "/project", CPU, Requirements(backend="jax")) == ()


def test_conda_build_is_not_judged():
    (found,) = examined(AMPERE, environment__yml="dependencies:\n  - tensorflow=2.15\n  - pip:\n      - keras\n")
    assert (found.reason, found.change) == ("conda builds this TensorFlow itself, so gpucheck cannot judge it", None)


@pytest.mark.parametrize(
    ("text", "specifier"),
    [
        ("^2.15", ">=2.15,<3"),
        ("~2.15.1", ">=2.15.1,<2.16"),
        ("~=2.15", "~=2.15"),
        ("=2.15", "==2.15.*"),
        ("2.15.0", "==2.15.0"),
        ("2.15.*", "==2.15.*"),
        ("*", ""),
        (">= 2.15, <2.17", ">=2.15,<2.17"),
    ],
)
def test_specifiers_of_other_tools_are_read(text, specifier):
    assert project.pep440(text) == specifier
