"""What Keras is told to train on, and whether it can."""

import re

from gpucheck.compat import keras as tables
from gpucheck.compat import versions
from gpucheck.engine.plugin import combiner
from gpucheck.model import Fact
from gpucheck.probes.backend import Backend
from gpucheck.probes.environment import Environment
from gpucheck.probes.packages import Packages


class KerasBackend(Fact, frozen=True, kw_only=True):
    """Keras' backend; before it was looked at, by KERAS_BACKEND alone."""

    name: str | None  # "jax", or one that Keras does not know; None: nobody names one
    packages: Packages

    @property
    def other(self) -> str | None:
        """The backend other than TensorFlow that Keras trains on."""
        return self.name if self.name in tables.OTHERS else None

    @property
    def ready(self) -> bool:
        """Whether Keras is told to train on another backend, and all that it needs for that is installed."""
        return self.other is not None and not missing_packages(self.packages, self.other)

    def refused(self, error: str) -> bool:
        """Whether an import failed because Keras 3 knows no such backend: its error names that one."""
        if self.packages.keras is None or not versions.at_least(self.packages.keras.version, "3"):
            return False
        if not self.name or self.name in tables.BACKENDS:
            return False
        return re.search(rf"(?<!\w){re.escape(self.name)}(?!\w)", error) is not None


def missing_packages(packages: Packages, backend: str) -> list[str]:
    """The packages that Keras on that backend lacks."""
    present = {package.name for package in packages.others}
    absent = [name for name in tables.PACKAGES[backend] if name not in present]
    return absent if packages.keras is not None else ["keras", *absent]


@combiner
def combine(environment: Environment, packages: Packages, backend: Backend | None) -> KerasBackend:
    """Keras' own word first."""
    name = backend.name if backend is not None else environment.variables.get("KERAS_BACKEND")
    return KerasBackend(name=name, packages=packages)
