"""Whether this machine trains Keras on every device it has; if not, the one root cause and what to type.

The package is split by what each part may touch (see docs/architecture.md):

* ``probes`` look at the machine, through ``host``, and return facts.
* ``rules`` judge facts and touch nothing.
* ``reports`` print a report and touch nothing.
* ``strategies`` build a ``tf.distribute`` strategy, in a child process.

In Python: ``gpucheck.check()`` returns the report, ``gpucheck.require(gpus=1)`` raises with the root cause. Importing this
package imports nothing heavy.
"""

from __future__ import annotations

TYPE_CHECKING = False  # a user's typing.py must not end `python -m gpucheck` before it can name the file
if TYPE_CHECKING:
    from typing import Any

    from gpucheck.api import NotReady, Result, check, require

__version__ = "0.1.0"
DISTRIBUTION = "keras-gpucheck"  # another package of the package index is named gpucheck, and has this file too
__all__ = ["NotReady", "Result", "__version__", "check", "require"]


def __getattr__(name: str) -> Any:
    """Import the functions when they are first used."""
    if name in ("NotReady", "Result", "check", "require"):
        from gpucheck import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
