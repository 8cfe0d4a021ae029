"""The tests that need no TensorFlow, under every Python that gpucheck runs on and that is found here."""

import nox

nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.10", "3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Install gpucheck as a user does, and test it."""
    session.install(".[test]")
    session.run("pytest", "-q", "-n", "auto", "-m", "not tensorflow and not slow", *session.posargs)
