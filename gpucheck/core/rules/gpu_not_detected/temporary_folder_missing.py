"""No folder for temporary files is writable: the root file system is read-only, and nothing is mounted at /tmp.

Symptom:
    FileNotFoundError: [Errno 2] No usable temporary directory found in ['/tmp', '/var/tmp', '/usr/tmp', '/app']
    - TensorFlow can't be imported in a container that is otherwise complete.
Cause:
    TensorFlow needs a folder for temporary files when it is imported, and writes some while it trains. A container with a
    read-only root file system (Kubernetes: readOnlyRootFilesystem, Docker: --read-only) has none unless you mount one or set
    TMPDIR to a writable folder.
Verify:
    $ python -c 'import tempfile; print(tempfile.gettempdir())'
Unless:
    Nothing here imports TensorFlow.
Example:
    limits.temporary_folders = ["/tmp", "/var/tmp", "/usr/tmp", "/app"]
    limits.temporary_folder = null
    tensorflow = {"imported": false, "error_type": "FileNotFoundError", "error": "[Errno 2] No usable temporary directory found in ['/tmp', '/var/tmp', '/usr/tmp', '/app']"}
    keras = {"imported": false}
    training.runs = []
    -> No folder for temporary files is writable (/tmp, /var/tmp, /usr/tmp, /app), but TensorFlow needs one when it is imported.
References:
    https://docs.python.org/3/library/tempfile.html#tempfile.gettempdir
    https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
"""

from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import no_temporary_folder
from gpucheck.core.probes.limits import Limits
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context

_DOCKER = Fix(text="Mount a temporary folder: docker run --tmpfs /tmp IMAGE")
_KUBERNETES = Fix(text="Give the pod an emptyDir, mounted at /tmp")
_NAME = Fix(
    text="Or set a writable folder, such as one on a volume, instead of /data",
    command='export TMPDIR=/data/tmp && mkdir -p "$TMPDIR"',
)


@rule(
    scope=Scope.HOST,
    explains=("tensorflow-import-failed", "training-failed", "training-crashed"),
    first_check="TMPDIR, and the free space of /tmp",
)
def check(limits: Limits, tensorflow: TensorFlow | None, context: Context) -> Finding | Skip | None:
    """Report that no folder is writable, unless TensorFlow's import succeeded."""
    if not limits.temporary_folders:
        return Skip("the folders for temporary files on this platform are unknown")
    if limits.temporary_folder is not None or (tensorflow is not None and tensorflow.imported):
        return None
    error = saw(tensorflow, "error") if tensorflow is not None and tensorflow.error else ()
    return Finding(
        summary=no_temporary_folder(f" ({', '.join(limits.temporary_folders)})"),
        evidence=(*saw(limits, "temporary_folders", "temporary_folder"), *error),
        fix=repairs(context),
    )


def repairs(context: Context) -> Fixes:
    """Mount a folder, or set a writable one."""
    yield from context.only(_DOCKER, container="docker|podman")
    yield from context.only(_KUBERNETES, container="kubernetes")
    yield _NAME
