"""Report an exception that ends the command line: one line if the cause is known, otherwise a traceback to report."""

from __future__ import annotations

import os


class NoVerdict(Exception):
    """The machine cannot be examined; the message gives the reason, on one line."""


def report(error: BaseException) -> None:
    """Write to standard error why there is no verdict: a system limit, a shadowing file, or a damaged installation."""
    text = _explained(error)
    if text is None:
        import traceback

        text = "".join(traceback.format_exception(error)) + "gpucheck: this is a bug in gpucheck; please report it"
    try:  # noqa: SIM105 - contextlib may be the missing module
        os.write(2, f"{text}\n".encode("utf-8", "backslashreplace") if text else b"")
    except OSError:  # it was closed
        pass


def _explained(error: BaseException) -> str | None:
    """Return one line; empty if it was already written; None if the cause is unknown."""
    from gpucheck.core.system import integrity, shadowing, ulimits

    if isinstance(error, NoVerdict):
        return f"gpucheck: no verdict: {error}"
    problem = ulimits.explain(error) if isinstance(error, Exception) else None
    if problem is not None:
        return f"gpucheck: {problem}"
    if not isinstance(error, integrity.Damaged) and shadowing.report_shadowing_file(error):
        return ""
    try:
        integrity.verify()  # reports the damaged file; the exception may mention a different one that needs it
    except integrity.Damaged as damaged:
        error = damaged
    damage = integrity.explain(error)
    return None if damage is None else f"gpucheck: {damage}"
