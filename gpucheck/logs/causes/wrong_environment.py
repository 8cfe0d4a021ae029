"""What of a log is wrong-environment."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, told


def in_log(log: Log) -> Finding | None:
    """pip says that TensorFlow is installed, and Python does not find it: they are of two environments."""
    missing = [event for event in told(log, "module-missing") if event.fields["module"] == "tensorflow"]
    installed = [event for event in log.events if event.kind == "package-installed"]
    if not missing or not installed:
        return None
    version = installed[0].fields.get("version")
    where = installed[0].fields.get("path")
    return Finding(
        summary=f"TensorFlow{f' {version}' if version else ''} is installed{f' in {where}' if where else ''}, but not for the Python"
        " that ran this.",
        evidence=cite(installed[0], *missing),
        fix=(
            Fix(
                text="Install with the Python that runs the program, not with another one's pip",
                command="python -m pip install tensorflow",
            ),
            Fix(
                text="See which Python that is", command="python -c 'import sys; print(sys.executable)'; python -m pip --version"
            ),
            Fix(text="In a notebook, choose the kernel of the environment that has TensorFlow"),
        ),
    )
