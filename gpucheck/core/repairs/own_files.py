"""What to do about a file of the user's that hides an installed module."""

import re

from gpucheck.core.model import Fix
from gpucheck.core.repairs.shells import word


def renaming(module: str, file: str) -> tuple[Fix, ...]:
    """Give the file that hides a module another name; or leave it out of Python's path."""
    own = re.sub(r"[/\\]__init__\.\w+$", "", file)
    name = re.split(r"[/\\]", own)[-1]
    folder = own.removesuffix(name)
    command = f"mv {word(own)} {word(f'{folder}my_{name}')} && rm -rf {word(f'{folder}__pycache__')}"
    return (
        Fix(
            text=f"Rename it, and delete the __pycache__ beside it: Python takes it for {module}",
            command=None if "\\" in own else command,
        ),
        Fix(text="Or start from another folder, and leave that one out of PYTHONPATH"),
    )
