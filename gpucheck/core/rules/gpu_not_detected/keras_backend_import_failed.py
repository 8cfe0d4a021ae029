"""The configured Keras backend (JAX or PyTorch) is installed, but importing it, or importing Keras with it, fails.

Symptom:
    RuntimeError: jaxlib version 0.4.30 is older than and incompatible with jax version 0.7.0
    - ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory
    - OSError: libtorch_global_deps.so: cannot open shared object file
    - RuntimeError: Unable to initialize backend 'cuda'
Cause:
    A package that it imports is missing or has an incompatible version (jax and jaxlib must match), or its files are incomplete.
Verify:
    KERAS_BACKEND=jax python -c 'import keras; print(keras.backend.backend())' prints jax.
Unless:
    Never: nothing trains without the import.
Example:
    request.backend = "jax"
    packages.others = [{"name": "jax", "version": "0.7.0", "folder": "/x"}, {"name": "jaxlib", "version": "0.4.30", "folder": "/x"}]
    backend = {"name": "jax", "source": "--backend", "imported": false, "error_type": "RuntimeError", "error": "jaxlib version 0.4.30 is older than and incompatible with jax version 0.7.0."}
    keras.imported = false
    training.runs = []
    -> JAX 0.7.0 can't be imported: jaxlib version 0.4.30 is older than and incompatible with jax version 0.7.0.
References:
    https://docs.jax.dev/en/latest/installation.html
    https://keras.io/getting_started/
"""

from msgspec.structs import replace

from gpucheck.core.combiners.keras_backend import missing_packages
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, rule, saw
from gpucheck.core.model.wording import short
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import newer
from gpucheck.core.rules.gpu_not_detected._cuda_builds import jax_build, torch_build
from gpucheck.core.rules.gpu_not_detected._failed_packages import conflicts
from gpucheck.core.rules.gpu_not_detected._obstacles import user_file


@rule(
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-cpu-build", "cpu-fallback", "tpu-runtime-missing", "training-failed", "training-crashed"),
    first_check="the last exception of the import",
)
def check(request: Request, packages: Packages, backend: Backend, keras: Keras | None, context: Context) -> Finding | None:
    """Report an exception or crash of the import: of the framework first, then of Keras on it."""
    name = request.other_backend
    if name is None or missing_packages(packages, name):
        return None
    title = TITLES[name]
    for what, fact in ((title, backend), (f"Keras on {title}", keras)):
        if fact is not None and fact.imported is False and (cause := user_file(fact)):
            return cause.finding(what)
    if backend.imported is False:
        version = next((package.version for package in packages.others if package.name == name), "")
        what, error = f"{title} {version}".rstrip(), backend.error or backend.error_type
        evidence = saw(backend, "imported", "error_type", "error", "ending")
    elif keras is not None and keras.imported is False:
        what, error = f"Keras on {title}", keras.error or keras.error_type
        evidence = saw(keras, "imported", "error_type", "error")
    else:
        return None
    return Finding(
        summary=f"{what} can't be imported: {short(error or 'no reason was given')}.",
        evidence=evidence,
        fix=repairs(context, backend=name),
    )


def repairs(context: Context, *, backend: str = "", plugin: str = "", reason: str = "") -> Fixes:
    """Install matching releases of the packages.

    Args:
        context: what is known about the machine.
        backend: the framework whose import failed: "jax", "torch"; empty if unknown.
        plugin: JAX's CUDA plugin, in a log that names it: "jax_cuda12_plugin".
        reason: "version" if a log shows an incompatible plugin interface.
    """
    name = backend or context.framework or "jax"
    if context.raised_in and not reason and name == "jax":
        text = f"Install a {context.raised_in} that supports the installed JAX: this one uses what JAX removed"
        yield Fix(text=text, command=newer(context))
    if name == "torch":
        yield torch_build(context)
    elif plugin or reason or _has_plugin(context):
        yield jax_build(context)
    else:
        yield Fix(text="Install JAX and jaxlib of the same release", command=context.pip("--upgrade", "jax", "jaxlib"))
        if not backend:
            yield replace(jax_build(context), text="With an NVIDIA GPU: install its plugin and libraries too")
    if not (backend or plugin or context.framework):
        yield replace(torch_build(context), text="PyTorch: reinstall it with its libraries")
    yield conflicts(context)


def _has_plugin(context: Context) -> bool:
    """Whether JAX was installed with CUDA."""
    return context.packages is not None and any(one.name.startswith("jax-cuda") for one in context.packages.others)
