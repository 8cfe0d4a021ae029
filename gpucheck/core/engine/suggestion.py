"""Suggest similar names for an unknown one."""

import difflib
from collections.abc import Iterable

LISTED_BELOW = 12  # if no name is similar, all names are listed if there are fewer


def did_you_mean(name: str, names: Iterable[str], *, most: int = 1, otherwise: str | None = None) -> str:
    """Return the similar names as the end of an error message.

    Args:
        name: the unknown name.
        names: the valid names.
        most: how many similar names to list.
        otherwise: the end of the message if no name is similar; None: all names, if they are few.
    """
    names = list(names)
    close = difflib.get_close_matches(name, names, most)
    if close:
        return f" (did you mean {' or '.join(close)}?)"
    if otherwise is not None:
        return otherwise
    return f"; expected one of {', '.join(names)}" if len(names) < LISTED_BELOW else ""
