"""What the command line says of an exception that ends it: one line where the cause is known, else a traceback and a request."""

from __future__ import annotations

import os


def report(error: BaseException) -> None:
    """Write to standard error why there is no verdict: a limit of the system, a file in the way, or a damaged installation."""
    text = _explained(error)
    if text is None:
        import traceback

        text = "".join(traceback.format_exception(error)) + "gpucheck: this is a bug of gpucheck; please report it"
    try:  # noqa: SIM105 - contextlib may be what is missing
        os.write(2, f"{text}\n".encode("utf-8", "backslashreplace") if text else b"")
    except OSError:  # it was closed
        pass


def _explained(error: BaseException) -> str | None:
    """One line; empty where it was written already; None where the cause is not known."""
    from gpucheck.core.system import integrity, shadowing, ulimits

    short = ulimits.shortage(error) if isinstance(error, Exception) else None
    if short is not None:
        return f"gpucheck: {short}"
    if not isinstance(error, integrity.Damaged) and shadowing.report_shadowing_file(error):
        return ""
    try:
        integrity.verify()  # it names the file, where the exception may name another that needs it
    except integrity.Damaged as damaged:
        error = damaged
    damage = integrity.explain(error)
    return None if damage is None else f"gpucheck: {damage}"
