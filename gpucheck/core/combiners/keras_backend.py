"""The backend that Keras is configured to use, by what, and whether it works."""

import re

from gpucheck.core.combiners.installation import Installation
from gpucheck.core.compat import keras as tables
from gpucheck.core.compat import versions
from gpucheck.core.model import Fact, Request
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages


class KerasBackend(Fact, frozen=True, kw_only=True):
    """The request, the environment and the packages that decide it, and what was seen of Keras and of its backend."""

    request: Request
    environment: Environment
    installation: Installation
    keras: Keras | None
    backend: Backend | None

    @property
    def name(self) -> str | None:
        """ "jax", or one that Keras does not know; None: none is configured. Before Keras was imported: KERAS_BACKEND alone."""
        return self.backend.name if self.backend is not None else self.environment.variables.get("KERAS_BACKEND")

    @property
    def keras_version(self) -> str | None:
        """As Keras reports it, else its package."""
        installed = self.installation.packages.keras
        return (self.keras.version if self.keras else None) or (installed.version if installed else None)

    @property
    def other(self) -> str | None:
        """The backend other than TensorFlow that Keras trains on."""
        return self.name if self.name in tables.OTHERS else None

    @property
    def ready(self) -> bool:
        """Whether Keras is configured for another backend, and everything that it needs is installed."""
        return self.other is not None and not missing_packages(self.installation.packages, self.other)

    def refused(self, error: str) -> bool:
        """Whether an import failed because Keras 3 knows no such backend: its error names that one."""
        installed = self.installation.packages.keras
        if installed is None or not versions.at_least(installed.version, "3"):
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
def combine(
    request: Request, environment: Environment, installation: Installation, keras: Keras | None, backend: Backend | None
) -> KerasBackend:
    """Keras need not have been imported."""
    return KerasBackend(request=request, environment=environment, installation=installation, keras=keras, backend=backend)
