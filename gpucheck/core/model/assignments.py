"""Changes of environment variables that fix a problem."""

import enum

import msgspec

SEPARATORS = {"XLA_FLAGS": " "}  # the others are lists of folders


class Operation(str, enum.Enum):
    """The change of a variable; ``prepend`` puts the value before the current one."""

    SET = "set"
    PREPEND = "prepend"
    UNSET = "unset"


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One variable to change before a program starts."""

    variable: str
    operation: Operation
    value: str = ""  # unused for ``unset``
    reason: str  # one printable line, used as a comment in scripts
    apply: bool = True  # False: a suggestion that only the user can judge

    @property
    def separator(self) -> str:
        """The separator between the value and the current one."""
        return SEPARATORS.get(self.variable, ":")
