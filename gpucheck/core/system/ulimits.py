"""Resource limits of this process, and the one on open files raised while gpucheck looks: it needs many of them.

What is examined gets back what was given: the report tells of that, children import TensorFlow under it, and so does the
command of ``gpucheck run``.
"""

import errno

WANTED, NEEDED = 256, 48  # files at once; a run on two processors without a GPU was seen to hold 27, four for each child
_given: list[tuple[int, int]] = []  # the soft and hard limit on open files, where they were raised


def widen() -> None:
    """Raise the limit on open files where it is low, as far as the system lets us. For the command line's first moment."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if _given or soft == resource.RLIM_INFINITY or soft >= WANTED:
            return
        enough = hard == resource.RLIM_INFINITY or hard >= WANTED
        for limits in [(WANTED, hard)] if enough else [(WANTED, WANTED), (hard, hard)]:  # root may raise the hard one, too
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            except (ValueError, OSError):
                continue
            _given.append((soft, hard))
            return
    except (ValueError, OSError):
        return


def restore() -> None:
    """Take back what ``widen`` did, for the program that takes this process' place."""
    while _given:
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, _given.pop())


def given() -> tuple[int, int] | None:
    """The soft and hard limit on open files that were in force before they were raised; None where they were not."""
    return _given[0] if _given else None


def soft(name: str) -> int | None:
    """The soft limit by its name without RLIMIT_, as it was given to us; -1: unlimited; None: unknown."""
    try:
        import resource

        limit, _ = _given[0] if _given and name == "NOFILE" else resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
    except (ImportError, AttributeError, ValueError, OSError):
        return None
    return -1 if limit == resource.RLIM_INFINITY else limit


def too_few() -> str | None:
    """Why a look at the machine can't be begun: too few files may be open, and that could not be raised; None where it can."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    except (ImportError, ValueError, OSError):
        return None
    if limit == resource.RLIM_INFINITY or limit >= NEEDED:
        return None
    return f"{limit} files may be open in this process (ulimit -n), too few for gpucheck itself, which holds up to {NEEDED}"


def shortage(error: BaseException) -> str | None:
    """One sentence for the user about an error for want of open files; None about any other."""
    if not isinstance(error, OSError) or error.errno != errno.EMFILE:
        return None
    why = too_few() or f"the {soft('NOFILE')} files that may be open in this process (ulimit -n) are used up"
    return f"no verdict: {why}"
