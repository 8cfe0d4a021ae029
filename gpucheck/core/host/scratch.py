"""A folder for the temporary files of children: what they leave behind, killed or not, goes with it.

TensorFlow writes every function that it has rewritten for graphs into a file, and removes them when the interpreter ends in good
order, which a child does not wait for: that may hang.
"""

import contextlib
import os
import shutil
import threading
from collections.abc import Mapping

from gpucheck.core.child.runtime import SCRATCH
from gpucheck.core.system.bounded import NoAnswer, within

VARIABLES = ("TMPDIR", "TEMP", "TMP")  # as tempfile looks them up
# Where tempfile looks after that; it itself would look into the folders that the environment names once more.
USUAL: tuple[str | None, ...] = ("/tmp", "/var/tmp", "/usr/tmp") if os.name == "posix" else (None,)  # noqa: S108
MAKE_SECONDS = 3.0  # for a folder whose file system may not answer
REMOVE_SECONDS = 0.5


class Scratch:
    """Made when it is first needed; where none can be made, children use what the user's programs would use."""

    def __init__(self, env: Mapping[str, str], usual: tuple[str | None, ...] = USUAL) -> None:
        """Nothing is made yet; ``env`` says where temporary files belong, and else they go to the ``usual`` folders."""
        self._usual = usual
        self._env = env
        self._path: str | None = None
        self._tried = False
        self._over = False
        self._making = threading.Lock()

    def variables(self) -> dict[str, str]:
        """What to set for a child; nothing where there is no folder."""
        with self._making:
            if not self._tried:
                self._tried = True
                self._path = self._make()
            if self._over:  # while it was made
                self.remove()
            return {} if self._path is None else dict.fromkeys((*VARIABLES, SCRATCH), self._path)

    def remove(self) -> None:
        """Remove it with everything in it, as far as that can be done; a probe that is still at work gets no other."""
        self._tried = self._over = True
        path, self._path = self._path, None
        if path is not None:
            with contextlib.suppress(NoAnswer):
                within(REMOVE_SECONDS, shutil.rmtree, path, True)

    def _make(self) -> str | None:
        """A new folder in the first of the usual places that can be written to and answers, as for the user's programs."""
        import tempfile  # --quick does without

        named = [self._env[name] for name in VARIABLES if self._env.get(name)]
        for folder in [*named, *self._usual]:
            with contextlib.suppress(OSError, ValueError):
                return within(MAKE_SECONDS, tempfile.mkdtemp, None, "gpucheck-", folder)
        return None
