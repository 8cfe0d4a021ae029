"""Names of devices, spelled the same in every report, label and reason; of workers; and names similar to an unknown one."""

from collections.abc import Iterable

WORKER = r"/job:(\w+)/(?:replica:\d+/)?task:(\d+)"  # in TensorFlow's messages: the job, and the index of the task
LISTED_BELOW = 12  # if no name is similar, all names are listed if there are fewer


def devices(names: Iterable[str], ascii: bool = False) -> str:
    """Shorten a list of device names: GPU:0, GPU:1, GPU:2, GPU:5 -> "GPU:0-2,5".

    Equal lists of several workers are listed once: CPU:0, CPU:0 -> "2 × CPU:0" (in ASCII "2 x CPU:0").
    """
    listed = tuple(names)
    for count in range(len(listed), 1, -1):
        each = listed[: len(listed) // count]
        if each * count == listed:
            return f"{count} {'x' if ascii else '×'} {_short(each)}"
    return _short(listed)


def _short(names: tuple[str, ...]) -> str:
    runs: list[tuple[str, int, int]] = []
    for name in names:
        kind, _, number = name.rpartition(":")
        if not number.isdigit():
            return ", ".join(names)
        if runs and runs[-1][0] == kind and runs[-1][2] + 1 == int(number):
            runs[-1] = (kind, runs[-1][1], int(number))
        else:
            runs.append((kind, int(number), int(number)))
    short = ""
    for place, (kind, first, last) in enumerate(runs):
        same = place > 0 and runs[place - 1][0] == kind
        short += ("," if same else f"{', ' if short else ''}{kind}:") + (f"{first}-{last}" if last > first else str(first))
    return short


def did_you_mean(name: str, names: Iterable[str], *, most: int = 1, otherwise: str | None = None) -> str:
    """Return the similar names as the end of an error message.

    Args:
        name: the unknown name.
        names: the valid names.
        most: how many similar names to list.
        otherwise: the end of the message if no name is similar; None: all names, if they are few.
    """
    import difflib

    names = list(names)
    close = difflib.get_close_matches(name, names, most)
    if close:
        return f" (did you mean {' or '.join(close)}?)"
    if otherwise is not None:
        return otherwise
    return f"; expected one of {', '.join(names)}" if len(names) < LISTED_BELOW else ""
