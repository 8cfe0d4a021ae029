"""Which lines are looked at closely: those that hold a literal; of lines that all differ, as many as there is time for."""

from gpucheck.core.logs.reading.allowance import Allowance
from gpucheck.core.logs.reading.search import DIGITS, Literals

IDENTIFIERS = str.maketrans("", "", "0123456789abcdef")  # numbers, addresses, UUIDs
_FAMILIAR = 1 << 16  # lines, but for their digits, of which is remembered whether they hold a literal
Shape = tuple[int, str]  # what lines have in common that differ in numbers and identifiers only; their first literal
_NOTHING: Shape = (0, "")  # the shape of lines without a literal

SEARCH_SECONDS_PER_CHARACTER = 30e-9  # finding lines by their literals is free up to this
# While the allowance is used up, lines are looked at whose first literal came first in few lines so far:
RARE = 30
RARE_SECONDS = 1.0  # what may be spent on them
_USELESS = 10_000  # lines found by literals that are rare no more, after which the pattern for the rare ones is made anew


class Screen:
    """Keeps account of the lines and of the time."""

    def __init__(self, literals: Literals, allowance: Allowance) -> None:
        """No line was seen."""
        self.skimmed = 0  # lines that were not looked at for want of time
        self._literals, self._allowance = literals, allowance
        self._began = 0.0
        self._familiar: dict[int, Shape] = {}  # by lines whose digits are masked, so that such lines are searched once
        self._counts: dict[str, int] = {}  # lines that were looked at, by their first literal
        self._often: frozenset[str] = frozenset()  # literals that are not rare
        self._useless = _USELESS

    def lines(self, lowered: list[str], *, is_last: bool) -> list[tuple[int, Shape]]:
        """The lines that are worth a look: number, and shape."""
        size, allowance = sum(map(len, lowered)), self._allowance
        allowance.grant(size, is_last=is_last)
        if allowance.left < -RARE_SECONDS:
            self.skimmed += len(lowered)
            return []
        began = allowance.clock()
        masked = _without_digits("\n".join(lowered)).split("\n")
        looked = self._rare_ones(masked) if allowance.is_used_up else self._look(lowered, masked)
        free = 0.0 if allowance.is_used_up else size * SEARCH_SECONDS_PER_CHARACTER
        allowance.spend(max(0.0, allowance.clock() - began - free))
        return looked

    def begin(self, shape: Shape, must: bool = False) -> bool:
        """Whether there is time to look at a line of that shape, or it is a rare one, or it must be; ``end`` must follow then."""
        count = self._counts.get(shape[1], 0)
        if not must and self._allowance.left < 0 and (count >= RARE or self._allowance.left < -RARE_SECONDS):
            self.skimmed += 1
            self._useless += 1
            return False
        self._counts[shape[1]] = count + 1
        self._began = self._allowance.clock()
        return True

    def end(self) -> None:
        """The look that was begun is over."""
        self._allowance.spend(self._allowance.clock() - self._began)

    def _look(self, lines: list[str], masked: list[str]) -> list[tuple[int, Shape]]:
        if len(self._familiar) >= _FAMILIAR:
            self._familiar.clear()
        familiar, keys = self._familiar, list(map(hash, masked))
        new, distinct = [], set(keys)
        if strange := distinct.difference(familiar):
            new = [index for index, key in enumerate(keys) if key in strange]
            familiar.update(dict.fromkeys(strange, _NOTHING))
        single: dict[int, Shape] = {}  # lines of which the digits count
        for number, literal in self._literals.first([masked[index] for index in new]):
            index = new[number]
            if "xid" in masked[index]:  # every number of an Xid counts
                single[index] = hash(lines[index]), literal
                continue
            shape = _shape(masked[index], literal)
            if "0" not in literal:
                familiar[keys[index]] = shape
            else:
                single[index] = shape if self._literals.in_line(lines[index]) else _NOTHING
        known = {key: shape for key in distinct if (shape := familiar[key]) is not _NOTHING}
        looked = [(index, known[key]) for index, key in enumerate(keys) if key in known] if known else []
        for index in single:
            familiar.pop(keys[index], None)
        return sorted(looked + [(index, shape) for index, shape in single.items() if shape is not _NOTHING])

    def _rare_ones(self, masked: list[str]) -> list[tuple[int, Shape]]:
        if self._useless >= _USELESS:
            self._often, self._useless = frozenset(literal for literal, count in self._counts.items() if count >= RARE), 0
        rare = [(index, _shape(masked[index], literal)) for index, literal in self._literals.first(masked, self._often)]
        self.skimmed += len(masked) - len(rare)
        return rare


def _without_digits(text: str) -> str:
    """The text with every digit as 0, so that lines which differ in numbers only are the same."""
    if text.isascii():
        return text.translate(DIGITS)
    for digit in "123456789":  # other alphabets are translated letter by letter
        text = text.replace(digit, "0")
    return text


def _shape(masked: str, literal: str) -> Shape:
    return hash(masked.translate(IDENTIFIERS)), literal
