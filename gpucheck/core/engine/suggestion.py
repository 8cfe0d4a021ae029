"""What a user may have meant by a name that does not exist."""

import difflib
from collections.abc import Iterable

FEW = 12  # names that are all listed where none is similar


def did_you_mean(name: str, names: Iterable[str], *, most: int = 1, otherwise: str | None = None) -> str:
    """The similar names, as the end of an error message.

    Args:
        name: what was typed.
        names: what exists.
        most: how many similar names are listed.
        otherwise: the end of the message where nothing is similar; None: all names if they are few.
    """
    names = list(names)
    close = difflib.get_close_matches(name, names, most)
    if close:
        return f" (did you mean {' or '.join(close)}?)"
    if otherwise is not None:
        return otherwise
    return f"; known are {', '.join(names)}" if len(names) < FEW else ""
