"""The examined interpreter and its packages: what pip has to install there."""

from collections.abc import Iterable

from gpucheck.advice import commands
from gpucheck.advice.shells import word
from gpucheck.compat import keras as keras_tables
from gpucheck.compat import libraries as libraries_table
from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.engine.plugin import combiner
from gpucheck.model import Fact, Fix
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.packages import Packages


class Installation(Fact, frozen=True, kw_only=True):
    """What the fixes of rules install into the examined interpreter."""

    interpreter: Interpreter
    packages: Packages

    @property
    def python(self) -> str:
        """The interpreter as a word of a command."""
        return word(self.interpreter.executable)

    def pip(self, *packages: str) -> str:
        """The command that installs these."""
        return commands.pip(self.interpreter, *packages)

    def reinstall(self, names: Iterable[str | None]) -> Fix | None:
        """Lay down again the files of those packages that are recorded as installed; None if none is."""
        wanted = set(names)
        pins = sorted({f"{package.name}=={package.version}" for package in self.packages.nvidia if package.name in wanted})
        if not pins:
            return None
        return Fix(
            text="Lay down the files of the installed package again" if len(pins) == 1 else "Lay down their files again",
            command=self.pip("--force-reinstall", "--no-deps", "--no-cache-dir", *pins),
        )

    def tensorflow_with_cuda(self) -> Fix:
        """Install the newest TensorFlow for this Python that finds pip's CUDA libraries by itself."""
        fitting = [release for release in self.releases_for_python() if release.cusolver_reachable]
        pin = f"=={fitting[-1].minor}.*" if fitting else ""
        return Fix(
            text="Install a TensorFlow with its CUDA libraries" + (" that it finds by itself" if pin else ""),
            command=self.pip(f"tensorflow[and-cuda]{pin}"),
        )

    def backend_with_cuda(self, name: str) -> Fix:
        """Install JAX's or PyTorch's build for NVIDIA GPUs."""
        command = self.pip(*keras_tables.CUDA_BUILDS[name])
        return Fix(text=f"Install {keras_tables.TITLES[name]} for NVIDIA GPUs", command=command)

    def releases_for_python(self) -> list[releases.Release]:
        """The TensorFlow releases with CUDA libraries of their own that have packages for this Python, oldest first."""
        python = versions.parse(self.interpreter.version)[:2]
        return [
            release
            for release in releases.RELEASES.values()
            if release.and_cuda and versions.parse(release.python_min) <= python <= versions.parse(release.python_max)
        ]

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
        ):
            return self.tensorflow_with_cuda()
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
def combine(interpreter: Interpreter, packages: Packages) -> Installation:
    """Both as they are: an interpreter without its packages does not tell what to install."""
    return Installation(interpreter=interpreter, packages=packages)
