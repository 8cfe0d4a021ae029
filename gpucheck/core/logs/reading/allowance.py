"""The processor time that may be spent on a log whose lines all differ: it takes 30 times as long as others do."""

from collections.abc import Callable

CLOSE_SECONDS = 1.5  # in all, for lines that are looked at closely,
SECONDS_PER_CHARACTER = 12e-9  # and for each character of the log
AGAIN_SECONDS = 0.1  # what must have come together before lines are read on, once it was used up
LAST_SECONDS = 1.0  # for the end of a log, where what ended a program stands


class Allowance:
    """Keeps account of it. A log that uses it up is read in parts, evenly spread over it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Nothing was spent; ``clock`` tells the processor time of this thread, in seconds."""
        self.clock = clock
        self.left = CLOSE_SECONDS
        self.is_used_up = False

    def grant(self, characters: int, *, is_last: bool) -> None:
        """So much more of the log has come; ``is_last``: nothing comes behind it."""
        self.left += characters * SECONDS_PER_CHARACTER
        if is_last:
            self.left = max(self.left, LAST_SECONDS)
        self.is_used_up = self.left < (AGAIN_SECONDS if self.is_used_up else 0.0)

    def spend(self, seconds: float) -> None:
        """So much was used."""
        self.left -= seconds
