"""A missing tool that XLA needs in addition to TensorFlow's libraries: the check shared by ptxas and libdevice."""

from collections.abc import Callable

import msgspec

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.combiners.xla_toolkit import XlaToolkit
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Assignment, Finding, Fix, Severity, Skip, saw
from gpucheck.core.system.shells import statement

WITHOUT_XLA = Fix(text="Or disable XLA in your code: model.compile(..., jit_compile=False)")


class XlaTool(msgspec.Struct, frozen=True):
    """A file that XLA looks for."""

    field: str  # of ``Libraries``
    event: str  # the kind of log line that reports it missing
    name: str
    need: str  # what XLA does with it: "needs it for the GPU"
    reach: Callable[[str], Assignment]  # makes XLA find the copy at a path, if no complete toolkit fits


def missing_tool(
    tool: XlaTool,
    faults: LibraryFaults,
    outcomes: TrainingOutcomes,
    toolkit: XlaToolkit,
) -> Finding | Skip | None:
    """Report a tool that XLA can't find, unless a compiled step on a GPU passed without it."""
    libraries = faults.libraries
    if not faults.presence.here:
        return faults.presence.skip
    if libraries.tensorflow is None:
        return faults.unknown
    file = getattr(libraries, tool.field)
    if file.path or outcomes.trained_on_gpu(compiled=True):
        return None
    release = releases.release(libraries.tensorflow)
    copies = file.elsewhere
    where = f" (XLA does not search the copy at {copies[0]})" if copies else ""
    assignment = toolkit.assignment or (tool.reach(copies[0]) if copies else None)
    text = "Make XLA find it, in the shell that starts Python"
    reach = [Fix(text=text, command=statement(assignment))] if assignment is not None else []
    return Finding(
        summary=f"{tool.name} is {'not found' if copies else 'not installed'}{where}; XLA, which Keras 3 uses by"
        f" default to compile models, {tool.need}.",
        evidence=(*saw(libraries, f"{tool.field}.path", f"{tool.field}.elsewhere"), *outcomes.saw_events(tool.event)),
        fix=(*reach, faults.installation.context.xla_tools(libraries.tensorflow), WITHOUT_XLA),
        assignments=() if toolkit.assignment is None else (toolkit.assignment,),
        # Keras 2 compiles with XLA only on request.
        severity=None if release is None or versions.at_least(release.minor, "2.16") else Severity.WARNING,
    )
