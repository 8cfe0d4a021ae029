"""Run the tests that do not train with TensorFlow under every other supported Python that is found. TensorFlow is installed."""

import os
import pathlib
import sys

import nox

nox.options.error_on_missing_interpreters = False
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"  # `make test-all` has already run all tests under this version
VERSIONS = [version for version in ("3.10", "3.11", "3.12", "3.13") if version != OWN]


def interpreter(version: str) -> str:
    """Return pyenv's newest interpreter of a version, else the version. pyenv's commands on PATH start only selected versions."""
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    found = sorted(root.glob(f"versions/{version}.*/bin/python"), key=lambda path: int(path.parts[-3].split(".")[2]))
    return str(found[-1]) if found else version


@nox.session(python=[interpreter(version) for version in VERSIONS])
def tests(session: nox.Session) -> None:
    """Run the tests in a checkout with TensorFlow, as `make test` does."""
    session.install("-e", ".[tensorflow,test]")
    session.run("pytest", "-q", "-n", "auto", "-m", "not tensorflow and not slow", *session.posargs)
