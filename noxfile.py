"""Tests under every other Python that gpucheck runs on and that is found here: what needs no TensorFlow to train, beside it."""

import os
import pathlib
import sys

import nox

nox.options.error_on_missing_interpreters = False
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"  # `make test-all` has run them all under it
VERSIONS = [version for version in ("3.10", "3.11", "3.12", "3.13") if version != OWN]


def interpreter(version: str) -> str:
    """pyenv's newest of that version, which its commands on PATH do not start unasked; else the version, for nox to find."""
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    found = sorted(root.glob(f"versions/{version}.*/bin/python"), key=lambda path: int(path.parts[-3].split(".")[2]))
    return str(found[-1]) if found else version


@nox.session(python=[interpreter(version) for version in VERSIONS])
def tests(session: nox.Session) -> None:
    """A checkout with TensorFlow, as `make test` has it."""
    session.install("-e", ".[tensorflow,test]")
    session.run("pytest", "-q", "-n", "auto", "-m", "not tensorflow and not slow", *session.posargs)
