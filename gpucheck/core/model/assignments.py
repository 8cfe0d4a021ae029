"""Changes of environment variables that repair something."""

import enum

import msgspec

SEPARATORS = {"XLA_FLAGS": " "}  # the others are lists of folders


class Operation(str, enum.Enum):
    """What is done to a variable; ``prepend`` puts the value before what it holds already."""

    SET = "set"
    PREPEND = "prepend"
    UNSET = "unset"


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One variable to change before a program starts."""

    variable: str
    operation: Operation
    value: str = ""  # of no meaning for ``unset``
    reason: str  # one printable line: it ends up as a comment in scripts
    apply: bool = True  # False: a suggestion, which only the user can judge

    @property
    def separator(self) -> str:
        """What stands between the value and what follows it."""
        return SEPARATORS.get(self.variable, ":")
