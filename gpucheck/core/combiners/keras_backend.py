"""The backend that Keras is configured to use, the source of that setting, and whether the backend works."""

import re

from gpucheck.core.compat import keras as tables
from gpucheck.core.compat import versions
from gpucheck.core.model import Fact, combiner
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages


class KerasBackend(Fact, frozen=True, kw_only=True):
    """The environment and packages that determine the backend, and the results of importing Keras and the backend."""

    environment: Environment
    packages: Packages
    keras: Keras | None
    backend: Backend | None

    @property
    def name(self) -> str | None:
        """ "jax", or an unsupported name; None: none is configured. Until Keras is imported, only KERAS_BACKEND is used."""
        return self.backend.name if self.backend is not None else self.environment.variables.get("KERAS_BACKEND")

    @property
    def keras_version(self) -> str | None:
        """The version that Keras reports, else its package's."""
        installed = self.packages.keras
        return (self.keras.version if self.keras else None) or (installed.version if installed else None)

    @property
    def other(self) -> str | None:
        """The backend that Keras trains on if it is not TensorFlow; else None."""
        return self.name if self.name in tables.OTHERS else None

    @property
    def ready(self) -> bool:
        """Whether Keras is configured for another backend, and all packages of that backend are installed."""
        return self.other is not None and not missing_packages(self.packages, self.other)

    def refused(self, error: str) -> bool:
        """Whether an import failed because Keras 3 does not support the backend, which its error names."""
        installed = self.packages.keras
        if installed is None or not versions.at_least(installed.version, "3"):
            return False
        if not self.name or self.name in tables.BACKENDS:
            return False
        return re.search(rf"(?<!\w){re.escape(self.name)}(?!\w)", error) is not None


def missing_packages(packages: Packages, backend: str) -> list[str]:
    """Return the missing packages of a backend."""
    present = {package.name for package in packages.others}
    absent = [name for name in tables.PACKAGES[backend] if name not in present]
    return absent if packages.keras is not None else ["keras", *absent]


combine = combiner(KerasBackend)  # Keras and the backend may not have been imported
