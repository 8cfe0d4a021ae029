"""The base of every class with fields: ``msgspec.Struct`` in the parent, and a plain class with the same constructor in a child.

The parent needs msgspec to check messages and to write the report. A child's interpreter may not have it, and importing it takes
longer than querying the driver. So each class is declared once, and the struct that a child sends is the fact the parent keeps.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or "gpucheck.core.child.boot" not in sys.modules:
    from msgspec import Struct, field, to_builtins
    from msgspec.structs import replace
else:
    from gpucheck.core.child.messages.plain import Struct, field, replace, to_builtins

__all__ = ("Struct", "field", "replace", "to_builtins")
