"""A temporary folder for children, removed with all files that they leave, even if they are killed.

TensorFlow writes a file for every function that it converts to a graph, and removes it at interpreter shutdown; children skip
the shutdown, which may hang.
"""

import contextlib
import os
import shutil
import threading
from collections.abc import Mapping

from gpucheck.core.child.runtime import SCRATCH
from gpucheck.core.system.bounded import NoResponse, with_timeout

VARIABLES = ("TMPDIR", "TEMP", "TMP")  # as tempfile looks them up
# The next folders that tempfile would try; tempfile itself would try the folders of the environment again.
DEFAULT_FOLDERS: tuple[str | None, ...] = ("/tmp", "/var/tmp", "/usr/tmp") if os.name == "posix" else (None,)  # noqa: S108
CREATE_SECONDS = 3.0  # to create it, for a folder on a file system that may hang
REMOVE_SECONDS = 0.5


class Scratch:
    """A folder created on first use; if that fails, children use the same folder as the user's programs."""

    def __init__(self, env: Mapping[str, str], default: tuple[str | None, ...] = DEFAULT_FOLDERS) -> None:
        """Create nothing yet. The folder is created where ``env`` says, else in one of the ``default`` folders."""
        self._default = default
        self._env = env
        self._path: str | None = None
        self._tried = False
        self._over = False
        self._making = threading.Lock()

    def variables(self) -> dict[str, str]:
        """Return the variables to set for a child; empty without a folder."""
        with self._making:
            if not self._tried:
                self._tried = True
                self._path = self._create()
            if self._over:  # removed while it was created
                self.remove()
            return {} if self._path is None else dict.fromkeys((*VARIABLES, SCRATCH), self._path)

    def remove(self) -> None:
        """Remove the folder as far as possible; probes that still run do not get another one."""
        self._tried = self._over = True
        path, self._path = self._path, None
        if path is not None:
            with contextlib.suppress(NoResponse):
                with_timeout(REMOVE_SECONDS, shutil.rmtree, path, True)

    def _create(self) -> str | None:
        """Create the folder where the user's programs create theirs: the first candidate that is writable and responds."""
        import tempfile  # not needed with --quick

        named = [self._env[name] for name in VARIABLES if self._env.get(name)]
        for folder in [*named, *self._default]:
            with contextlib.suppress(OSError, ValueError):
                return with_timeout(CREATE_SECONDS, tempfile.mkdtemp, None, "gpucheck-", folder)
        return None
