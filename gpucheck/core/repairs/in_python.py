"""Fixes as Python code, for a script or a notebook that repairs itself."""

from collections.abc import Iterable, Iterator

from gpucheck.core.model import Assignment, Diagnosis, Fix, Operation
from gpucheck.core.repairs.fixes import ALLOW_CPU

_AT_START = ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH")  # read once, before a script's first line


def repairs(findings: Iterable[Diagnosis]) -> tuple[str, ...]:
    """Return the first fix of each root cause, in the findings' order: the text, then the commands, indented."""
    return tuple(
        _repair(finding) for finding in findings if finding.explained_by is None and finding.muted is None and finding.fix
    )


def _repair(finding: Diagnosis) -> str:
    fix = finding.fix[0]
    if fix.command is None and any(other.command == ALLOW_CPU.command for other in finding.fix):
        return f"{_first(finding, fix)}\nOr train on the CPU:\n    gpucheck.require(gpus=0)"
    return _first(finding, fix)


def _first(finding: Diagnosis, fix: Fix) -> str:
    lines = list(_statements(finding))
    if lines:
        return "\n".join([f"{fix.text}, before TensorFlow is imported:", "    import os", *(f"    {line}" for line in lines)])
    if fix.command == ALLOW_CPU.command:
        return f"{fix.text}:\n    gpucheck.require(gpus=0)"
    if fix.command is None:
        return f"{fix.text}."
    return f"{fix.text}, {_place(fix, finding.assignments)}:\n    {fix.command}"


def _place(fix: Fix, assignments: tuple[Assignment, ...]) -> str:
    late = any(assignment.variable in _AT_START for assignment in assignments) or "export " in (fix.command or "")
    return "in a shell, before Python starts" if late else "in a shell"


def _statements(finding: Diagnosis) -> Iterator[str]:
    """Yield the assignments that fix it, if a running program can still make them."""
    made = [assignment for assignment in finding.assignments if assignment.apply]
    if any(assignment.variable in _AT_START or assignment.operation is Operation.PREPEND for assignment in made):
        return
    for assignment in made:
        if assignment.operation is Operation.UNSET:
            yield f"os.environ.pop({assignment.variable!r}, None)"
        else:
            yield f"os.environ[{assignment.variable!r}] = {assignment.value!r}"
