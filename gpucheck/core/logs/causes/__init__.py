"""What the events of a log follow from: causes by the code of the rule whose page says what to do, with the lines they rest on.

A cause that single lines name is a row of a table. What must be inferred
from several lines is code, by topic. Which of several causes is the root is said by the rules.
"""

from gpucheck.core.logs.causes import (
    devices,
    driver,
    generations,
    health,
    imports,
    libraries,
    machine_table,
    memory,
    packages,
    program_table,
    training,
    workers,
)
from gpucheck.core.logs.causes.cause import Cause, Judge
from gpucheck.core.logs.causes.events import Events
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Severity

ROWS = (*machine_table.ROWS, *program_table.ROWS)
_CITED = 4  # events of a cause, at most
_CRASH = "training-crashed"

_INFERRED: dict[str, Judge] = {
    "container-without-gpu": devices.container_without_gpu,
    "cublas-init-failed": memory.cublas_init_failed,
    "cuda-init-failed": driver.cuda_init_failed,
    "cuda-libraries-missing": libraries.cuda_libraries_missing,
    "cuda-libraries-unreachable": libraries.cuda_libraries_unreachable,
    "cuda-version-mismatch": libraries.cuda_version_mismatch,
    "cudnn-init-failed": memory.cudnn_init_failed,
    "cudnn-missing": libraries.cudnn_missing,
    "device-permission-denied": devices.device_permission_denied,
    "devices-hidden": devices.devices_hidden,
    "driver-library-mismatch": driver.driver_library_mismatch,
    "driver-library-missing": driver.driver_library_missing,
    "driver-missing": driver.driver_missing,
    "driver-not-loaded": driver.driver_not_loaded,
    "driver-too-old": driver.driver_too_old,
    "ecc-errors": health.ecc_errors,
    "gpu-lost": health.gpu_lost,
    "gpu-memory-exhausted": memory.gpu_memory_exhausted,
    "gpu-memory-held-by-others": memory.gpu_memory_held_by_others,
    "gpu-too-new": generations.gpu_too_new,
    "gpu-too-old": generations.gpu_too_old,
    "gpus-not-listed": devices.gpus_not_listed,
    "host-memory-exhausted": memory.host_memory_exhausted,
    "input-pipeline-bound": training.filling_shuffle_buffer,
    "keras-backend-mismatch": imports.keras_backend_mismatch,
    "libdevice-missing": libraries.libdevice_missing,
    "library-path-conflict": libraries.library_path_conflict,
    "loss-not-falling": training.loss_not_falling,
    "macos-no-cuda": packages.macos_no_cuda,
    "mig-misconfigured": devices.mig_misconfigured,
    "multi-worker-fit-unsupported": workers.multi_worker_fit_unsupported,
    "no-nvidia-gpu": devices.no_nvidia_gpu,
    "nvlink-down": health.nvlink_down,
    "peer-access-unavailable": workers.peer_access_unavailable,
    "platform-unsupported": packages.platform_unsupported,
    "ptxas-missing": libraries.ptxas_missing,
    "python-unsupported": packages.python_unsupported,
    "replica-count-mismatch": workers.replica_count_mismatch,
    "rocm-gpu-unsupported": driver.rocm_gpu_unsupported,
    "tensorflow-gpu-package-removed": packages.tensorflow_gpu_package_removed,
    "tensorflow-import-failed": imports.tensorflow_import_failed,
    "tensorflow-not-installed": packages.tensorflow_not_installed,
    "tpu-unreachable": workers.tpu_unreachable,
    "training-failed": health.stopped_by_its_own_fault,
    "windows-native-unsupported": packages.windows_native_unsupported,
    "worker-unreachable": workers.worker_unreachable,
    "wrong-environment": packages.wrong_environment,
    "wsl-misconfigured": driver.wsl_misconfigured,
}
CODES = frozenset({*(row.code for row in ROWS), *_INFERRED, _CRASH})  # of all causes that a log can name


def judge(log: Log) -> dict[str, Cause]:
    """The causes that a log names, by their codes."""
    events = Events(log)
    named = {code: cause for code in sorted(CODES - {_CRASH}) if (cause := _cause(code, events)) is not None}
    if not named and (crash := training.training_crashed(events)):  # in a log that names nothing that could explain it
        named[_CRASH] = crash
    return {code: _bounded(cause) for code, cause in named.items()}


def _cause(code: str, events: Events) -> Cause | None:
    judges: list[Judge] = [*(row for row in ROWS if row.code == code), *([_INFERRED[code]] if code in _INFERRED else [])]
    named = [cause for judge in judges if (cause := judge(events)) is not None]
    if not named:
        return None
    # what is an error, and of these what was said first
    return min(named, key=lambda cause: (cause.severity is Severity.WARNING, cause.events[0].line))


def _bounded(cause: Cause) -> Cause:
    """With each line once and the first few of them."""
    lines = list({event.line: event for event in cause.events}.values())
    return cause._replace(events=tuple(lines[:_CITED]))
