"""The context of a repair, read from a live machine or from a log: the framework, its location, and its installer."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpucheck.core.compat import images, versions
from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.compat import libraries as libraries_table
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Fact, Fix, Fixes
from gpucheck.core.model.wording import LABELS
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.system import System
from gpucheck.core.probes.wsl import Wsl
from gpucheck.core.repairs import commands
from gpucheck.core.system.shells import statement, word

if TYPE_CHECKING:
    from gpucheck.core.solver.machine import Machine, Python

_AGAIN = {"jax": "--upgrade", "torch": "--force-reinstall"}  # else pip keeps the build without CUDA


class Context(Fact, frozen=True, kw_only=True):
    """The known properties of the machine and the environment that a repair is for; None and empty: unknown."""

    framework: str | None = None  # of the failed program: "tensorflow", "jax", "torch"
    framework_version: str | None = None
    raised_in: str | None = None  # the installed package whose file a traceback names last: "flax"; "": a file of the program
    framework_before: str | None = None  # a release of TensorFlow that is newer than the failed program's: "2.15"
    python_version: str | None = None  # "3.12"; of a live machine, ``interpreter`` has it
    amd: bool = False  # whether the machine has an AMD GPU and no NVIDIA GPU
    notebook: str | None = None  # "colab", "kaggle"
    manager: str | None = None  # the tool that installed the packages: "pip", "conda", "uv", "poetry"
    uv_project: bool = False  # whether uv installs what a project requires: `uv run` removes other packages
    powershell: bool = False  # whether commands are typed in PowerShell
    jax_plugin: str | None = None  # the extra of JAX's plugin for CUDA: "cuda13"; a live machine's packages show it
    scheduler: str | None = None  # "slurm"; "": known to be none
    task_sees_gpus: str | None = None  # which GPUs of its node the scheduler shows each task: "one", "all"
    tried: tuple[str, ...] = ()  # commands that were run earlier, as typed
    interpreter: Interpreter | None = None
    packages: Packages | None = None
    system: System | None = None
    wsl: Wsl | None = None
    container: Container | None = None
    driver: Driver | None = None
    gpus: Gpus | None = None
    cuda: Cuda | None = None

    @property
    def kinds(self) -> dict[str, str | None]:
        """The values that ``only`` compares, by kind; "": known to be none, None: unknown."""
        inside = self.container.inside if self.container is not None else bool(self.notebook) or (False if self.windows else None)
        return {
            "system": "wsl" if self.in_wsl else self.system.platform if self.system is not None else None,
            "distribution": self.system.os_id or None if self.system is not None and self.system.platform == "linux" else None,
            "container": self.container.kind if self.container is not None and inside else None if inside is None else "",
            "notebook": self.notebook,
            "manager": self.manager,
            "scheduler": "" if self.windows else self.scheduler,
            "framework": self.framework,
        }

    @property
    def installed(self) -> dict[str, str]:
        """The versions of installed packages that are known, by name."""
        known = self.packages
        if known is None:
            return {}
        several = (*known.flavours, known.keras, known.tf_keras, *known.nvidia, known.libtpu, *known.others)
        return {one.name: one.version for one in several if one is not None}

    @property
    def jax_extra(self) -> str:
        """The extra of JAX for its installed plugin: "cuda13"; "cuda12" if it is unknown. Two plugins exclude each other."""
        return "cuda13" if self.jax_plugin == "cuda13" or "jax-cuda13-plugin" in self.installed else "cuda12"

    @property
    def in_wsl(self) -> bool:
        """Whether this is known to be WSL."""
        return self.wsl is not None and self.wsl.inside

    @property
    def in_container(self) -> bool:
        """Whether this is known to be a container, such as that of a notebook."""
        return bool(self.notebook) or (self.container is not None and self.container.inside)

    @property
    def windows(self) -> bool:
        """Whether this is known to be Windows."""
        return self.system is not None and self.system.platform == "win32"

    def only(self, fix: Fix, **kinds: str) -> Fixes:
        """Yield a fix if the machine is of these kinds, with a label if that is unknown: ``only(fix, system="win32")``.

        Args:
            fix: valid only for such a machine.
            kinds: names of ``kinds`` with the value, or several with "|" between them.
        """
        labels = []
        for kind, value in kinds.items():
            known, allowed = self.kinds[kind], value.split("|")
            if known is None:
                labels += [LABELS[name] for name in allowed if name in LABELS]
            elif known not in allowed:
                return
        yield fix.after(f"{' or '.join(labels)}:") if labels else fix

    def excludes(self, **kinds: str) -> bool:
        """Whether the machine is known to be of another kind: ``excludes(framework="tensorflow")``."""
        return any((known := self.kinds[kind]) is not None and known not in value.split("|") for kind, value in kinds.items())

    @property
    def python(self) -> str:
        """The interpreter as a word of a command."""
        return word(self.interpreter.executable) if self.interpreter is not None else "python"

    def pip(self, *packages: str) -> str:
        """Return the command that installs these packages, with the tool that installed the others.

        Args:
            packages: requirements, and options of pip.
        """
        if self.interpreter is not None:
            return commands.pip(self.interpreter, *packages)
        if self.manager == "poetry":
            return commands.poetry_add(*packages)
        if self.manager == "uv":
            return commands.uv_add(*packages) if self.uv_project else commands.uv_pip(*packages)
        return ("%pip install " if self.notebook else "python -m pip install ") + " ".join(map(word, packages))

    def new_environment(self, *packages: str, python: str = "") -> str:
        """Return the command that creates an environment with these packages, with the tool that created the current one.

        Args:
            packages: requirements.
            python: minor version of its Python: "3.12"; empty: any installed one.
        """
        requirements = " ".join(map(word, packages))
        if self.manager == "conda":
            made = f"conda create -y -n tensorflow python={python or '3.12'}"
            return f"{made} && conda run -n tensorflow python -m pip install {requirements}"
        if self.windows:
            folder = "tensorflow-env"
            return f"py -{python or '3'} -m venv {folder} && {folder}\\Scripts\\python -m pip install {requirements}"
        folder = "~/tensorflow-env"
        if self.manager == "uv" or python:
            made = f"uv venv{f' --python {python}' if python else ''} {folder}"
            return f"{made} && uv pip install --python {folder} {requirements}"
        return f"python -m venv {folder} && {folder}/bin/python -m pip install {requirements}"

    def uninstall(self, *names: str) -> str:
        """Return the command that removes these packages."""
        if self.interpreter is None and self.manager in ("uv", "poetry"):
            uv = "uv remove" if self.uv_project else "uv pip uninstall"
            return f"{uv if self.manager == 'uv' else 'poetry remove'} {' '.join(names)}"
        tool = "%pip" if self.notebook and self.interpreter is None else f"{self.python} -m pip"
        return f"{tool} uninstall -y {' '.join(names)}"

    def reinstall(self, names: Iterable[str | None]) -> Fix | None:
        """Return the fix that reinstalls those of the given packages that are installed; None if there are none.

        A version with a local part ("2.17.0+nv25.2") is on no package index.
        """
        if self.packages is None:
            return None
        selected = set(names)
        own = [self.packages.tensorflow, self.packages.keras, *self.packages.nvidia, *self.packages.others]
        pins = sorted({f"{one.name}=={one.version}" for one in own if one and one.name in selected and "+" not in one.version})
        if not pins:
            return None
        return Fix(
            text="Reinstall the files of the installed package" if len(pins) == 1 else "Reinstall their files",
            command=self.pip("--force-reinstall", "--no-deps", "--no-cache-dir", *pins),
        )

    def with_cuda(
        self, backend: str = "tensorflow", instead_of: Iterable[str] = (), *, configured: bool = False, absent: bool = False
    ) -> Fix:
        """Install the newest build for NVIDIA GPUs that works here, into this environment if its Python supports it.

        Args:
            backend: the backend that trains.
            instead_of: packages to remove from this environment first.
            configured: whether Keras is already configured for the backend.
            absent: whether no build of the backend is installed, not even one for the CPU.
        """
        from gpucheck.core.solver import commands as setup_commands
        from gpucheck.core.solver.machine import Gpu, Requirements
        from gpucheck.core.solver.solve import best

        title = keras_tables.TITLES[backend]
        own, machine = self._solver_input()
        machine = replace(machine, gpus=(Gpu(),)) if machine.gpus is None else machine
        beside = next((name[-2:] for name in self.installed if re.fullmatch(r"nvidia-.*-cu\d\d", name)), None)
        choice = best(machine, Requirements(backend=backend, python=own), beside) or best(machine, Requirements(backend=backend))
        if choice is None and self.interpreter is None and machine.architecture == "aarch64":  # from a log that names no GPU
            command = None if self.in_container else f"docker run --gpus all -it {images.NAME}"
            return Fix(text=f"Use NVIDIA's own build for ARM, which supports GPUs: the image {images.NAME}", command=command)
        if choice is None:
            text = f"See why no {title} with GPU support works on this machine, and what would change that"
            return Fix.look(text, "gpucheck setup")
        if choice.source == "conda":
            return Fix(
                text=f"Install {title} {choice.tensorflow}, the last release that supports GPUs on native Windows, or use WSL2",
                command=" && ".join(setup_commands.make(choice, machine)),
            )
        if choice.source == "image":
            command = None if self.in_container else setup_commands.make(choice, machine)[0]
            return Fix(
                text=f"Use NVIDIA's own build, the image {choice.image}: no other build works on this machine", command=command
            )
        name = f"{title} {versions.minor(choice.tensorflow)}" if choice.tensorflow else title
        if own is not None and choice.python != own:
            text = f"Install {name} with its CUDA libraries in a new environment: no build for this Python works on this machine"
            return Fix(text=text, command=" && ".join(setup_commands.make(choice, machine)))
        index = [commands.INDEX, choice.index] if choice.index else []
        exports = [
            statement(replace(assignment, value=assignment.value.replace("{environment}", self._prefix)))
            for assignment in choice.assignments
            if not (configured and assignment.variable == "KERAS_BACKEND")
        ]
        managed = self.interpreter is not None and bool(self.interpreter.externally_managed)
        remove = [self.uninstall(*names)] if (names := tuple(instead_of)) and not managed else []
        again = [] if absent and backend == "torch" else [_AGAIN[backend]] if backend in _AGAIN else []
        command = self.pip(*again, *choice.packages, *index)
        here = " on this machine" if self.interpreter is not None else ""
        newest = f": the newest that works{here} without further settings"
        return Fix(
            text=f"Install {name} with its CUDA libraries{'' if exports else newest}",
            command=" && ".join([*remove, command, *exports]),
        )

    @property
    def _prefix(self) -> str:
        """The folder of the environment, as a word of a command."""
        if self.interpreter is not None:
            return self.interpreter.prefix
        return "$CONDA_PREFIX" if self.manager == "conda" else "$VIRTUAL_ENV"

    def _solver_input(self) -> tuple["Python | None", "Machine"]:
        """This interpreter and this machine, as input of the solver."""
        from gpucheck.core.solver.machine import Python, machine

        version = self.interpreter.version if self.interpreter is not None else self.python_version
        executable = self.interpreter.executable if self.interpreter is not None else None
        own = Python(version=version, executable=executable) if version else None
        pythons = (own,) if own is not None else None
        return own, machine(self.system, self.wsl, self.driver, self.gpus, self.cuda, pythons=pythons)

    def _works(self, version: str) -> bool:
        """Whether that TensorFlow can use the GPUs of this machine; otherwise its libraries are useless."""
        from gpucheck.core.solver.machine import Requirements
        from gpucheck.core.solver.solve import best

        own, machine = self._solver_input()
        choice = best(machine, Requirements(tensorflow=f"=={versions.minor(version)}.*", python=own))
        return choice is not None and choice.source == "pip"

    def cuda_libraries(self) -> Fix:
        """Install the CUDA libraries of the installed TensorFlow, and the search path that its release needs to find them."""
        installed = self.packages.tensorflow if self.packages is not None else None
        version = installed.version if installed is not None else self.framework_version
        release = releases.release(version) if version and self.framework in (None, "tensorflow") else None
        if (
            version is None
            or (installed is not None and installed.name != "tensorflow")
            or "+" in version
            or release is None
            or not release.and_cuda
            or (self.interpreter is not None and self.interpreter.externally_managed)
            or (installed is None and not release.cusolver_reachable)  # with_cuda takes a release that needs no search path
            or not self._works(version)
        ):
            return self.with_cuda()
        pin = version if versions.parse(version)[2:] else f"{version}.*"
        command = self.pip(f"tensorflow[and-cuda]=={pin}")
        if release.cusolver_reachable or installed is None:
            return Fix(text=f"Install the CUDA libraries that TensorFlow {version} is built for", command=command)
        return Fix(
            text=f"Install the CUDA libraries of TensorFlow {version}, and add the one folder that this release"
            " does not search to the search path, in every shell that trains",
            command=f"{command} && {statement(commands.search_first([f'{installed.folder}/nvidia/cusolver/lib']))}",
        )

    def xla_tools(self, version: str | None) -> Fix:
        """Install ptxas and libdevice for this TensorFlow, from the CUDA release that it was built for or a newer minor."""
        release = releases.release(version) if version else None
        package = libraries_table.tools_package(release.minor if release else releases.LATEST) or "nvidia-cuda-nvcc-cu12"
        requirement = f"{package}>={release.cuda},<{release.cuda_major + 1}.0" if release else package
        return self.reinstall((package,)) or Fix(text="Install NVIDIA's compiler tools", command=self.pip(requirement))
