"""A folder for the temporary files of children: what they leave behind, killed or not, goes with it.

TensorFlow writes every function that it has rewritten for graphs into a file, and removes them when the interpreter ends in good
order, which a child does not wait for: that may hang.
"""

import contextlib
import os
from collections.abc import Mapping

from gpucheck.child.runtime import SCRATCH

VARIABLES = ("TMPDIR", "TEMP", "TMP")  # as tempfile looks them up


class Scratch:
    """Made when it is first needed; where none can be made, children use what the user's programs would use."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Nothing is made yet; ``env`` says where temporary files belong."""
        self._env = env
        self._path: str | None = None
        self._tried = False

    def variables(self) -> dict[str, str]:
        """What to set for a child; nothing where there is no folder."""
        if not self._tried:
            self._tried = True
            self._path = self._made()
        return {} if self._path is None else dict.fromkeys((*VARIABLES, SCRATCH), self._path)

    def remove(self) -> None:
        """Remove it with everything in it, as far as that can be done; a probe that is still at work gets no other."""
        self._tried = True
        if self._path is not None:
            import shutil

            shutil.rmtree(self._path, ignore_errors=True)
            self._path = None

    def _made(self) -> str | None:
        import tempfile

        told = next((self._env[name] for name in VARIABLES if self._env.get(name)), None)
        # A folder that can't be written to is passed over, as by tempfile in the user's programs.
        for folder in ([told] if told is not None and os.path.isdir(told) else []) + [None]:
            with contextlib.suppress(OSError, ValueError):
                return tempfile.mkdtemp(prefix="gpucheck-", dir=folder)
        return None
