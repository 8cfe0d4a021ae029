"""Resource limits of this process. A run raises the one on open files, and saves address space where it is limited.

Reports show the original limit. Children that import TensorFlow and the command of ``gpucheck run`` run with it.
"""

import contextlib
import errno

REQUESTED, NEEDED = 256, 48  # files at once; a run on two processors without a GPU held 27, four for each child
ADDRESS_SPACE = 2 << 30  # bytes; a run with seventeen threads reserved 1.2 GiB, 0.1 GiB with smaller stacks and one malloc arena
_STACK_BYTES, _M_ARENA_MAX = 1 << 20, -8  # M_ARENA_MAX: mallopt(3)
_original: list[tuple[int, int]] = []  # the soft and hard limit on open files, if they were raised


def raise_open_files(requested: int = REQUESTED) -> None:
    """Raise a low limit on open files as far as the system permits. Called when the command line starts."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY or soft >= requested:
            return
        enough = hard == resource.RLIM_INFINITY or hard >= requested
        # root may raise the hard one, too
        for limits in [(requested, hard)] if enough else [(requested, requested), (hard, hard)]:
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
                _original[1:] = [] if _original else [(soft, hard)]
                return


def save_address_space() -> None:
    """Reserve less address space per thread where it is limited. Called when the command line starts.

    By default, glibc reserves 8 MiB for the stack of each thread, and up to 128 MiB for its malloc arena. Once nothing is left,
    threads end without an exception that Python could catch.
    """
    limit = soft("AS")
    if limit is None or limit >= ADDRESS_SPACE:
        return
    import threading

    threading.stack_size(_STACK_BYTES)
    with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):  # musl and macOS have no mallopt
        import ctypes

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def restore() -> None:
    """Undo ``raise_open_files``, for the program that replaces this process."""
    while _original:
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, _original.pop())


def original_open_files() -> tuple[int, int] | None:
    """Return the soft and hard limit on open files before they were raised; None if they were not."""
    return _original[0] if _original else None


def soft(name: str) -> int | None:
    """Return the original soft limit by its name without RLIMIT_; None: unlimited or unknown."""
    return _original[0][0] if _original and name == "NOFILE" else _current(name)


def open_files_problem() -> str | None:
    """Return an error message if the limit on open files is too low for a run and could not be raised; else None."""
    limit = _current("NOFILE")
    if limit is None or limit >= NEEDED:
        return None
    return f"{limit} files may be open in this process (ulimit -n), too few for gpucheck itself, which needs up to {NEEDED}"


def _current(name: str) -> int | None:
    """Return the current soft limit, as ``soft`` does."""
    try:
        import resource

        limit, _ = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
    except (ImportError, AttributeError, ValueError, OSError):
        return None
    return None if limit == resource.RLIM_INFINITY else limit


def explain(error: BaseException) -> str | None:
    """Return a message for the errors "too many open files" and "out of memory"; None for any other."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return "no verdict: too little memory for gpucheck itself (ulimit -v, ulimit -d, or the limit of its control group)"
    if not isinstance(error, OSError) or error.errno != errno.EMFILE:
        return None
    why = open_files_problem() or f"all {soft('NOFILE')} files that this process may open (ulimit -n) are in use"
    return f"no verdict: {why}"
