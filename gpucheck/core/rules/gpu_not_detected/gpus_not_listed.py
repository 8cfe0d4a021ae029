"""CUDA finds more GPUs than TensorFlow (or the JAX or PyTorch that Keras trains on) lists, and no other diagnosis explains why.

Symptom:
    nvidia-smi shows the GPU, and tf.config.list_physical_devices("GPU") returns [] or too few
    - Skipping registering GPU devices...
Cause:
    The driver works for this process, so the cause is in the process: a library that it loads, an environment variable, or the
    build itself. gpucheck found no known cause.
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
    -> CUDA finds 1 GPU for this process, but TensorFlow 2.21.0 lists none.
References:
    https://www.tensorflow.org/guide/gpu
"""

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, Skip, rule, saw
from gpucheck.core.model.wording import short
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context

_REASONS = ("library-missing", "gpu-libraries-missing", "cuda-drivers-not-found", "cuinit-failed", "cuda-error")

_QUERIES = {
    "tensorflow": "TF_CPP_MAX_VLOG_LEVEL=1 {python} -c \"import tensorflow as tf; tf.config.list_physical_devices('GPU')\" 2>&1"
    " | grep -iE 'could not load|dlerror|ignoring visible'",
    "jax": "JAX_PLATFORMS=cuda {python} -c 'import jax; print(jax.devices())'",
    "torch": "{python} -c 'import torch; torch.cuda.init(); print(torch.cuda.device_count())'",
}


@rule(scope=Scope.ENVIRONMENT)
def check(
    request: Request,
    cuda: Cuda,
    build: TensorFlowBuild,
    backend: Backend | None,
    faults: LibraryFaults | None,
    outcomes: TrainingOutcomes,
    context: Context,
) -> Finding | Skip | None:
    """Compare CUDA's count with the framework's, without the GPUs that TensorFlow reports as ignored."""
    tensorflow = build.tensorflow
    other = backend if backend is not None and backend.other else None
    if tensorflow is None and other is None:
        return Skip("no framework was queried")
    if cuda.status in ("hung", "crashed"):
        return Skip("CUDA could not count the GPUs")
    if not cuda.device_count or request.gpuless:
        return None
    judged = _tensorflow(cuda, tensorflow, faults, outcomes, context) if tensorflow is not None else None
    if other is None or isinstance(judged, Finding):
        return judged
    return _other_backend(cuda, other, outcomes, context) or judged


def _tensorflow(
    cuda: Cuda, tensorflow: TensorFlow, faults: LibraryFaults | None, outcomes: TrainingOutcomes, context: Context
) -> Finding | Skip | None:
    if tensorflow.devices is None:
        return Skip("TensorFlow's device list was not reached")
    listed = sum(device.kind == "GPU" for device in tensorflow.devices)
    ignored = {event.fields.get("device") for event in outcomes.events if event.kind == "gpu-ignored"}
    if listed + len(ignored) >= (cuda.device_count or 0):
        return None
    return Finding(
        summary=_summary(cuda, f"TensorFlow {tensorflow.version}", listed),
        evidence=(
            *saw(cuda, "device_count"),
            *saw(tensorflow, "devices"),
            *outcomes.saw_events(*_REASONS),
            *(item for fault in (faults.required if faults is not None else ()) for item in fault.evidence),
        ),
        fix=repairs(context),
    )


def _other_backend(cuda: Cuda, backend: Backend, outcomes: TrainingOutcomes, context: Context) -> Finding | Skip | None:
    """Compare the GPUs that JAX or PyTorch lists; their CUDA errors give the reason."""
    if backend.devices is None:
        return Skip(f"the device list of {backend.title} was not reached")
    listed = sum(device.kind == "GPU" for device in backend.devices)
    if listed >= (cuda.device_count or 0):
        return None
    hidden = (backend.problem or "").startswith("JAX_PLATFORMS=")
    return Finding(
        summary=_summary(cuda, backend.title, listed, f" ({short(backend.problem)})" if backend.problem else ""),
        evidence=(*saw(cuda, "device_count"), *saw(backend, "devices", "problem"), *outcomes.saw_events(*_REASONS)),
        fix=repairs(context, backend=backend.name, hidden=hidden),
    )


def _summary(cuda: Cuda, name: str, listed: int, why: str = "") -> str:
    plural = "s" if (cuda.device_count or 0) > 1 else ""
    return f"CUDA finds {cuda.device_count} GPU{plural} for this process, but {name} lists {listed or 'none'}{why}."


def repairs(context: Context, *, backend: str = "tensorflow", hidden: bool = False) -> Fixes:
    """Install the framework's libraries; make it print which one fails to load.

    Args:
        context: what is known about the machine.
        backend: what trains: "tensorflow", "jax", "torch".
        hidden: whether JAX_PLATFORMS selects the platform.
    """
    if hidden:
        yield Fix(text="Remove JAX_PLATFORMS, so that JAX chooses the platform", command="unset JAX_PLATFORMS")
    fix = (
        context.cuda_libraries()
        if backend == "tensorflow"
        else context.with_cuda(backend, configured=context.interpreter is None)
    )
    if context.interpreter is None and context.driver is None and context.gpus is None:  # for a log that shows nothing else
        fix = fix.after("If nvidia-smi lists a GPU there:")
    yield fix
    title = keras_tables.TITLES[backend]
    text = f"Print the reason from {title}" if backend in keras_tables.OTHERS else "Print which library TensorFlow fails to load"
    yield Fix.look(text, _QUERIES[backend].format(python=context.python))
