"""The examined interpreter and its packages: what pip has to install there."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.compat import libraries as libraries_table
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Fact, Fix
from gpucheck.core.model.plugin import combiner
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


class Installation(Fact, frozen=True, kw_only=True):
    """What the fixes of rules install into the examined interpreter."""

    interpreter: Interpreter
    packages: Packages
    # Of the machine, for what must fit it; None: unknown.
    system: System | None = None
    wsl: Wsl | None = None
    container: Container | None = None
    driver: Driver | None = None
    gpus: Gpus | None = None
    cuda: Cuda | None = None

    @property
    def python(self) -> str:
        """The interpreter as a word of a command."""
        return word(self.interpreter.executable)

    def pip(self, *packages: str) -> str:
        """The command that installs these."""
        return commands.pip(self.interpreter, *packages)

    def reinstall(self, names: Iterable[str | None]) -> Fix | None:
        """Return the fix that reinstalls those of the packages that are recorded as installed; None if none is.

        A version with a part of its own ("2.17.0+nv25.2") is on no package index.
        """
        wanted = set(names)
        own = [self.packages.tensorflow, self.packages.keras, *self.packages.nvidia, *self.packages.others]
        pins = sorted({f"{one.name}=={one.version}" for one in own if one and one.name in wanted and "+" not in one.version})
        if not pins:
            return None
        return Fix(
            text="Reinstall the files of the installed package" if len(pins) == 1 else "Reinstall their files",
            command=self.pip("--force-reinstall", "--no-deps", "--no-cache-dir", *pins),
        )

    def with_cuda(self, backend: str = "tensorflow", instead_of: Iterable[str] = (), *, told: bool = False) -> Fix:
        """Install the newest build for NVIDIA GPUs that works here, into this environment if its Python can hold it.

        Args:
            backend: what trains.
            instead_of: packages that are removed from this environment before.
            told: whether Keras is told to train on the backend already.
        """
        from gpucheck.core.solver import commands as setup_commands
        from gpucheck.core.solver.machine import Wishes
        from gpucheck.core.solver.solve import best

        title = keras_tables.TITLES[backend]
        own, machine = self._asked()
        choice = best(machine, Wishes(backend=backend, python=own)) or best(machine, Wishes(backend=backend))
        if choice is None:
            text = f"See why no {title} with GPU support works on this machine, and what would change that"
            return Fix(text=text, command="gpucheck setup", kind="look")
        if choice.source == "image":
            inside = self.container is not None and self.container.inside
            command = None if inside else setup_commands.make(choice, machine)[0]
            return Fix(
                text=f"Start from NVIDIA's own build, the image {choice.image}: no other works on this machine", command=command
            )
        name = f"{title} {versions.minor(choice.tensorflow)}" if choice.tensorflow else title
        if choice.python != own:
            text = (
                f"Install {name} with its CUDA libraries in a new environment: this Python can't hold what works on this machine"
            )
            return Fix(text=text, command=" && ".join(setup_commands.make(choice, machine)))
        index = ["--index-url", choice.index] if choice.index else []
        exports = [
            statement(replace(assignment, value=assignment.value.replace("{environment}", self.interpreter.prefix)))
            for assignment in choice.assignments
            if not (told and assignment.variable == "KERAS_BACKEND")
        ]
        removed = " ".join(instead_of) if not self.interpreter.externally_managed else ""
        remove = [f"{self.python} -m pip uninstall -y {removed}"] if removed else []
        command = self.pip(*([_AGAIN[backend]] if backend in _AGAIN else []), *choice.packages, *index)
        return Fix(
            text=f"Install {name} with its CUDA libraries: the newest that works on this machine without further settings"
            if not exports
            else f"Install {name} with its CUDA libraries",
            command=" && ".join([*remove, command, *exports]),
        )

    def _asked(self) -> tuple["Python", "Machine"]:
        """This interpreter and this machine, as the solver takes them."""
        from gpucheck.core.solver import facts
        from gpucheck.core.solver.machine import Python

        own = Python(version=self.interpreter.version, executable=self.interpreter.executable)
        return own, facts.machine(self.system, self.wsl, self.driver, self.gpus, self.cuda, pythons=(own,))

    def _works(self, version: str) -> bool:
        """Whether that TensorFlow can use the GPUs of this machine: the libraries of one that cannot are of no use."""
        from gpucheck.core.solver.machine import Wishes
        from gpucheck.core.solver.solve import best

        own, machine = self._asked()
        choice = best(machine, Wishes(tensorflow=f"=={versions.minor(version)}.*", python=own))
        return choice is not None and choice.source == "pip"

    def cuda_libraries(self) -> Fix:
        """Install the CUDA libraries of the installed TensorFlow, with what its release needs besides to find them."""
        installed = self.packages.tensorflow
        release = releases.release(installed.version) if installed else None
        if (
            installed is None
            or installed.name != "tensorflow"
            or "+" in installed.version
            or release is None
            or not release.and_cuda
            or self.interpreter.externally_managed
            or not self._works(installed.version)
        ):
            return self.with_cuda()
        command = self.pip(f"tensorflow[and-cuda]=={installed.version}")
        if release.cusolver_reachable:
            return Fix(text=f"Install the CUDA libraries that TensorFlow {installed.version} is built for", command=command)
        return Fix(
            text=f"Install the CUDA libraries of TensorFlow {installed.version}, and name the one folder that this release"
            " forgets to search, in every shell that trains",
            command=f"{command} && {commands.library_path(installed.folder + '/nvidia/cusolver/lib')}",
        )

    def xla_tools(self, version: str) -> Fix:
        """Install ptxas and libdevice for this TensorFlow: of the CUDA it was built for, or a newer minor."""
        release = releases.release(version)
        package = libraries_table.tools_package(release.minor if release else releases.LATEST) or "nvidia-cuda-nvcc-cu12"
        wanted = f"{package}>={release.cuda},<{release.cuda_major + 1}.0" if release else package
        return self.reinstall((package,)) or Fix(text="Install NVIDIA's compiler tools", command=self.pip(wanted))


@combiner
def combine(
    interpreter: Interpreter,
    packages: Packages,
    system: System | None,
    wsl: Wsl | None,
    container: Container | None,
    driver: Driver | None,
    gpus: Gpus | None,
    cuda: Cuda | None,
) -> Installation:
    """All as they are: an interpreter without its packages does not tell what to install."""
    return Installation(
        interpreter=interpreter,
        packages=packages,
        system=system,
        wsl=wsl,
        container=container,
        driver=driver,
        gpus=gpus,
        cuda=cuda,
    )
