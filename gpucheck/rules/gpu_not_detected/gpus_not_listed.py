"""CUDA counts more GPUs than TensorFlow (or the JAX or PyTorch that Keras trains on) lists, and no other diagnosis says why.

Symptom:
    nvidia-smi shows the GPU, and tf.config.list_physical_devices("GPU") returns [] or too few
    Skipping registering GPU devices...
Cause:
    The driver works for this process, so what stops TensorFlow lies in the process: a library it opens, an environment variable, the
    build itself. None of the causes that gpucheck knows was seen.
Fix:
    1. Let TensorFlow say which library it fails to open
       $ TF_CPP_MAX_VLOG_LEVEL=1 python -c "import tensorflow as tf; tf.config.list_physical_devices('GPU')" 2>&1 | grep -iE 'could not load|dlerror|ignoring visible'
    2. Try a fresh virtual environment with tensorflow[and-cuda]==2.20.*
    3. If training on the CPU is what you want, ignore it: the job runs without a GPU
Verify:
    TensorFlow lists as many GPUs as nvidia-smi -L.
Unless:
    Your program hides GPUs from TensorFlow on purpose.
Example:
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    log.events = [{"kind": "gpu-libraries-missing", "line": 6, "text": "Cannot dlopen some GPU libraries.", "fields": {}}]
    -> CUDA counts 1 GPU for this process, and TensorFlow 2.21.0 lists none.
References:
    https://www.tensorflow.org/guide/gpu
"""

from gpucheck.combiners.library_faults import find_faults
from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.backend import Backend
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._backend import cuda_build, title
from gpucheck.rules._commands import cuda_install, word
from gpucheck.rules._log import events
from gpucheck.rules._words import short

_TELLING = ("library-missing", "gpu-libraries-missing", "cuda-drivers-not-found", "cuinit-failed", "cuda-error")


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT)
def check(
    request: Request,
    cuda: Cuda,
    interpreter: Interpreter,
    packages: Packages,
    tensorflow: TensorFlow | None,
    backend: Backend | None,
    libraries: Libraries | None,
    log: Log | None,
) -> Finding | Skip | None:
    """The second witness against the third, less the GPUs that TensorFlow says it passes over."""
    if tensorflow is None and (backend is None or not backend.other):
        return Skip("no framework was asked")
    if cuda.status in ("hung", "crashed"):
        return Skip("CUDA could not count the GPUs")
    if not cuda.device_count or request.gpuless:
        return None
    found = _tensorflow(cuda, interpreter, packages, tensorflow, libraries, log) if tensorflow is not None else None
    if backend is None or not backend.other or isinstance(found, Finding):
        return found
    return _other(cuda, interpreter, backend, log) or found


def _tensorflow(
    cuda: Cuda,
    interpreter: Interpreter,
    packages: Packages,
    tensorflow: TensorFlow,
    libraries: Libraries | None,
    log: Log | None,
) -> Finding | Skip | None:
    if tensorflow.devices is None:
        return Skip("TensorFlow's device list was not reached")
    listed = sum(device.kind == "GPU" for device in tensorflow.devices)
    ignored = {event.fields.get("device") for event in log.events if event.kind == "gpu-ignored"} if log else set()
    if listed + len(ignored) >= (cuda.device_count or 0):
        return None
    refused: tuple[Evidence, ...] = ()
    if libraries is not None:
        refused = tuple(item for fault in find_faults(libraries) if fault.library.required for item in fault.evidence)
    python = word(interpreter.executable)
    ask = "import tensorflow as tf; tf.config.list_physical_devices('GPU')"
    return Finding(
        summary=_summary(cuda, f"TensorFlow {tensorflow.version}", listed),
        evidence=(*saw(cuda, "device_count"), *saw(tensorflow, "devices"), *events(log, *_TELLING), *refused),
        fix=(
            Fix(
                text="Let TensorFlow say which library it fails to open",
                command=f"TF_CPP_MAX_VLOG_LEVEL=1 {python} -c \"{ask}\" 2>&1 | grep -iE 'could not load|dlerror|ignoring visible'",
            ),
            cuda_install(interpreter, packages),
        ),
    )


def _other(cuda: Cuda, interpreter: Interpreter, backend: Backend, log: Log | None) -> Finding | Skip | None:
    """JAX and PyTorch, which say why where they are asked for CUDA itself."""
    if backend.devices is None:
        return Skip(f"the device list of {title(backend)} was not reached")
    listed = sum(device.kind == "GPU" for device in backend.devices)
    if listed >= (cuda.device_count or 0):
        return None
    python = word(interpreter.executable)
    hidden = (backend.problem or "").startswith("JAX_PLATFORMS=")
    ask = {
        "jax": f"JAX_PLATFORMS=cuda {python} -c 'import jax; print(jax.devices())'",
        "torch": f"{python} -c 'import torch; torch.cuda.init(); print(torch.cuda.device_count())'",
    }[backend.name]
    return Finding(
        summary=_summary(cuda, title(backend), listed, f" ({short(backend.problem)})" if backend.problem else ""),
        evidence=(*saw(cuda, "device_count"), *saw(backend, "devices", "problem"), *events(log, *_TELLING)),
        fix=(
            *((Fix(text="Let JAX choose the platform itself", command="unset JAX_PLATFORMS"),) if hidden else ()),
            Fix(text=f"Let {title(backend)} say why", command=ask),
            cuda_build(interpreter, backend.name),
        ),
    )


def _summary(cuda: Cuda, name: str, listed: int, why: str = "") -> str:
    plural = "s" if (cuda.device_count or 0) > 1 else ""
    return f"CUDA counts {cuda.device_count} GPU{plural} for this process, and {name} lists {listed or 'none'}{why}."
