"""Render an answer as a file for pip, uv, conda, pixi, Poetry or Docker."""

import re
from collections.abc import Callable, Iterable

from gpucheck.core.compat import downloads, frameworks, vendors, versions
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.reports.shared.words import clean
from gpucheck.core.solver import commands
from gpucheck.core.solver.answer import Answer, Choice
from gpucheck.core.solver.machine import Machine

_PIXI_PLATFORMS = {
    ("linux", "aarch64"): "linux-aarch64",
    ("darwin", "arm64"): "osx-arm64",
    ("darwin", "x86_64"): "osx-64",
    ("win32", "x86_64"): "win-64",
}


class NoFile(Exception):
    """The answer can't be written in this format; the message is one line."""


def text(lines: Iterable[str]) -> str:
    """Return lines as text; no name of a GPU or system begins another line, or controls a terminal."""
    return "".join(f"{clean(line)}\n" for line in lines)


def title(choice: Choice) -> str:
    """Return 'TensorFlow 2.20.0, Python 3.12, CUDA 12.5, cuDNN 9.3, Keras >=3.10.0', or 'TensorFlow 2.21.0 (CPU), ...'."""
    framework = f"TensorFlow {choice.tensorflow}" if choice.tensorflow else f"Keras on {TITLES[choice.backend]}"
    framework += " (CPU)" if commands.trains_on_cpu(choice) else ""
    framework += f" with {' and '.join(choice.also)}" if choice.also else ""
    parts = [framework, f"Python {versions.minor(choice.python.version)}"]
    parts += [f"CUDA {choice.cuda}"] if choice.cuda else []
    parts += [f"cuDNN {choice.cudnn}"] if choice.cudnn else []
    parts += [f"Keras {choice.keras}"] if choice.tensorflow else []
    return ", ".join(parts)


def measured(choice: Choice, machine: Machine) -> downloads.Size | None:
    """Return the size of an environment; None if it was not measured for this kind of machine."""
    measured_here = (machine.system, machine.architecture) == ("linux", "x86_64")
    from_pypi = choice.source == "pip" and choice.index is None and not choice.steps
    return downloads.size(choice.packages, choice.cuda) if measured_here and from_pypi else None


def _pip_choice(answer: Answer, *, with_conda: bool = False) -> Choice:
    best = answer.best
    if best is None:
        raise NoFile("no combination works on this machine; `gpucheck setup` prints why")
    if best.source == "image":
        raise NoFile(f"no package works on this machine, only the image {best.image}: --format dockerfile")
    if best.source == "conda" and not with_conda:
        raise NoFile("conda brings the CUDA of this TensorFlow: --format conda")
    if sum(index is not None for _, index in best.steps):
        raise NoFile("packages from two indexes: use the commands that `gpucheck setup --with` prints, or --format dockerfile")
    return best


def _header(choice: Choice, *, python: bool = True) -> list[str]:
    """Return comments: the title and the remarks, without those on the machine's Python if the file installs its own."""
    own = f"Python {versions.minor(choice.python.version)} "
    remarks = (remark for remark in choice.remarks if python or not remark.startswith(own))
    return [f"# {title(choice)}; made by gpucheck setup", *(f"# {remark}" for remark in remarks)]


def _packages(choice: Choice) -> list[str]:
    """Return the requirements, without pip's options."""
    return [package for packages, _ in commands.installs(choice) for package in packages if not package.startswith("-")]


def _pip_lines(choice: Choice) -> list[str]:
    """Return lines for pip. Of two indexes, pip takes the newest release, and of that the build with a local version (+cu126)."""
    if choice.index is None:
        return list(choice.packages)
    builds = frameworks.BUILDS[choice.backend]
    newest = next((build.newest for build in builds if build.url == choice.index), builds[0].newest)
    return [f"--extra-index-url {choice.index}", f"{choice.backend}=={newest}.*", "keras"]


def requirements(answer: Answer) -> str:
    """Render a file for `pip install -r`."""
    choice = _pip_choice(answer)
    lines = _header(choice)
    for entry in choice.assignments:
        lines.append(f"# {entry.reason}; in each terminal: {commands.export(entry, '$VIRTUAL_ENV', 'linux')}")
    return text((*lines, *_pip_lines(choice)))


def dockerfile(answer: Answer) -> str:
    """Render a Dockerfile."""
    best = answer.best
    choice = best if best is not None and (best.source == "image" or best.steps) else _pip_choice(answer)
    options = "" if commands.trains_on_cpu(choice) else f"{choice.run_options} "
    lines = [*_header(choice, python=False), f"# docker build -t keras . && docker run {options}-it --rm keras"]
    if choice.source == "image":
        variables = (f'ENV {entry.variable}="{entry.value}"' for entry in choice.assignments)
        return text((*lines, f"FROM {choice.image}", *variables))
    if vendors.ROCM_JAX in choice.packages:
        raise NoFile("the packages use the ROCm of the system, which an image of Python does not have: use the commands")
    lines.append(f"FROM python:{versions.minor(choice.python.version)}-slim")
    for packages, index in commands.installs(choice):
        words = " ".join(f'"{package}"' for package in packages)
        lines.append(f"RUN pip install --no-cache-dir {words}" + (f" --index-url {index}" if index else ""))
    for entry in choice.assignments:
        lines.append(f"# {entry.reason}")
        lines.append(f'ENV {entry.variable}="{entry.value.replace("{environment}", "/usr/local")}"')
    return text((*lines, 'CMD ["bash"]'))


def conda(answer: Answer) -> str:
    """Render a file for `conda env create -f`: conda's Python, and the packages from pip."""
    choice = _pip_choice(answer, with_conda=True)
    lines = _header(choice, python=False)
    plain = [entry for entry in choice.assignments if "{environment}" not in entry.value]
    for entry in (entry for entry in choice.assignments if entry not in plain):
        value = entry.value.replace("{environment}", "$CONDA_PREFIX")
        lines += [f"# {entry.reason}", f"# after conda activate, once: conda env config vars set {entry.variable}={value}"]
    lines += [f"name: {choice.backend}", "channels: [conda-forge]", "dependencies:"]
    lines += [f"  - python={versions.minor(choice.python.version)}"]
    lines += [f"  - cudatoolkit={choice.cuda}", f"  - cudnn={choice.cudnn}.0"] if choice.source == "conda" else []
    lines += ["  - pip", "  - pip:"]
    lines += [f'      - "{line}"' for line in _pip_lines(choice)]
    lines += ["variables:"] if plain else []
    return text((*lines, *(f'  {entry.variable}: "{entry.value}"' for entry in plain)))


def pyproject(answer: Answer) -> str:
    """Render a pyproject.toml for `uv sync` and `poetry install`."""
    choice = _pip_choice(answer)
    minor = versions.minor(choice.python.version)
    lines = _header(choice, python=False)
    for entry in choice.assignments:
        lines.append(f"# {entry.reason}; in each terminal: {commands.export(entry, '$VIRTUAL_ENV', 'linux')}")
    lines += ["[project]", f'name = "{choice.backend}-project"', 'version = "0.1.0"', f'requires-python = "=={minor}.*"']
    lines += ["dependencies = [", *(f'    "{package}",' for package in _packages(choice)), "]"]
    lines += ["", "[tool.poetry]", "package-mode = false"]
    if choice.index is not None:
        lines += ["", "[[tool.poetry.source]]", 'name = "pytorch"', f'url = "{choice.index}"', 'priority = "explicit"']
        lines += ["", "[tool.poetry.dependencies]", f'{choice.backend} = {{ source = "pytorch" }}']
        lines += ["", "[[tool.uv.index]]", 'name = "pytorch"', f'url = "{choice.index}"', "explicit = true"]
        lines += ["", "[tool.uv.sources]", f'{choice.backend} = {{ index = "pytorch" }}']
    return text(lines)


def pixi(answer: Answer) -> str:
    """Render a pixi.toml: conda-forge's Python, and the packages from PyPI."""
    choice, machine = _pip_choice(answer), answer.machine
    platform = _PIXI_PLATFORMS.get((machine.system, machine.architecture or ""), "linux-64")
    lines = [*_header(choice, python=False), "[workspace]", f'name = "{choice.backend}-project"', 'channels = ["conda-forge"]']
    lines += [f'platforms = ["{platform}"]', "", "[dependencies]", f'python = "{versions.minor(choice.python.version)}.*"']
    lines += ["", "[pypi-dependencies]"]
    for packages, index in commands.installs(choice):
        lines += (table_entry(package, index) for package in packages if not package.startswith("-"))
    lines += ["", "[activation.env]"] if choice.assignments else []
    for entry in choice.assignments:
        lines += [f"# {entry.reason}", f'{entry.variable} = "{entry.value.replace("{environment}", "$CONDA_PREFIX")}"']
    return text(lines)


def table_entry(package: str, index: str | None = None) -> str:
    """'tensorflow[and-cuda]==2.20.0' -> 'tensorflow = { version = "==2.20.0", extras = ["and-cuda"] }'."""
    name, extra, specifier = re.fullmatch(r"([\w.-]+)(?:\[([\w-]+)\])?(.*)", package).groups()  # type: ignore[union-attr]
    fields = [f'version = "{specifier or "*"}"']
    fields += [f'extras = ["{extra}"]'] if extra else []
    fields += [f'index = "{index}"'] if index else []
    return f"{name} = {{ {', '.join(fields)} }}"


FORMATS: dict[str, Callable[[Answer], str]] = {
    "requirements": requirements,
    "dockerfile": dockerfile,
    "conda": conda,
    "pyproject": pyproject,
    "pixi": pixi,
}
