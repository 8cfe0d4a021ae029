"""Keras should train on JAX or PyTorch, which is installed, but importing it, or Keras on it, fails.

Symptom:
    RuntimeError: jaxlib version 0.4.30 is older than and incompatible with jax version 0.7.0
    - ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory
    - OSError: libtorch_global_deps.so: cannot open shared object file
    - RuntimeError: Unable to initialize backend 'cuda'
Cause:
    A package that it imports is missing or has an incompatible version (jax and jaxlib must match), or its files are incomplete.
Fix:
    1. List the packages with conflicting requirements
       ? python -m pip check
    2. Reinstall it
       $ python -m pip install --upgrade --force-reinstall jax
    3. Or start from a fresh virtual environment
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

from gpucheck.core.combiners.keras_backend import KerasBackend, missing_packages
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.model import Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.backend import Backend
from gpucheck.core.repairs.wording import short
from gpucheck.core.rules.gpu_not_detected._own_files import own_file


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=("training-failed", "training-crashed"))
def check(backend: Backend, keras_backend: KerasBackend) -> Finding | None:
    """An exception, or an end of the process: of the framework first, then of Keras on it."""
    installation, keras = keras_backend.installation, keras_backend.keras
    name = keras_backend.request.other_backend
    if name is None or missing_packages(installation.packages, name):
        return None
    title = TITLES[name]
    for what, fact in ((title, backend), (f"Keras on {title}", keras)):
        if fact is not None and fact.imported is False and (cause := own_file(fact)):
            return Finding(summary=f"{what} can't be imported: {cause.words}.", evidence=cause.evidence, fix=cause.fix)
    if backend.imported is False:
        version = next((package.version for package in installation.packages.others if package.name == name), "")
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
        fix=(
            Fix(
                text="List the packages with conflicting requirements",
                command=f"{installation.context.python} -m pip check",
                kind="look",
            ),
            Fix(text="Reinstall it", command=installation.context.pip("--upgrade", "--force-reinstall", name)),
        ),
    )
