"""The examined interpreter's own account of itself. Standard library only; runs in our process or under ``--python``."""

import os
import sys


def describe():
    """Plain facts of the running interpreter, JSON-serialisable."""
    return {
        "executable": sys.executable,
        "version": ".".join(str(part) for part in sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "path": [os.path.abspath(entry) if entry else os.getcwd() for entry in sys.path],
        "bits": 64 if sys.maxsize > 2**32 else 32,
        "platform": sys.platform,
    }


def run(stages, args):
    """Report the account as the stage ``interpreter``."""
    stages.begin("interpreter")
    stages.end("interpreter", describe())
