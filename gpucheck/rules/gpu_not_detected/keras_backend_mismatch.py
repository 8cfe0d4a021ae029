"""Keras runs on another backend than TensorFlow, while TensorFlow is what gpucheck verifies.

Symptom:
    keras.backend.backend() prints 'jax' or 'torch'
    TensorFlow lists the GPU, and Keras trains on the CPU
    ValueError: Unable to import backend : theano
Cause:
    Keras 3 reads KERAS_BACKEND, then "backend" in ~/.keras/keras.json, then takes tensorflow. The file is written at the first import
    and survives reinstallation. The choice is made when keras is imported and can't be changed afterwards.
Fix:
    1. export KERAS_BACKEND=tensorflow before Python starts
    2. Or set "backend": "tensorflow" in ~/.keras/keras.json
Verify:
    python -c 'import keras; print(keras.backend.backend())' prints tensorflow.
Unless:
    You mean to train with JAX or PyTorch: both are valid ways to use Keras; verify the GPU with their own tools.
Example:
    environment.variables.KERAS_BACKEND = "jax"
    keras.backend = "jax"
    keras.backend_source = "KERAS_BACKEND"
    training.runs = []
    log.events = [{"kind": "keras-backend", "line": 5, "text": "Using JAX backend.", "fields": {"name": "jax"}}]
    -> Keras runs on jax here (KERAS_BACKEND=jax), which is a valid way to train, but not on TensorFlow, which is what this check verifies.
References:
    https://keras.io/getting_started/#configuring-your-backend
"""

from gpucheck.compat import keras as tables
from gpucheck.compat import versions
from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.plugin import rule
from gpucheck.probes.environment import Environment
from gpucheck.probes.keras import Keras
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.rules._log import cite, told


@rule(severity=Severity.WARNING, scope=Scope.ENVIRONMENT, explains=("training-failed", "training-crashed"))
def check(environment: Environment, packages: Packages, keras: Keras | None) -> Finding | Skip | None:
    """What Keras said of itself; before it was imported, KERAS_BACKEND, which outweighs keras.json."""
    version = (keras.version if keras else None) or (packages.keras.version if packages.keras else None)
    if version is None or not versions.at_least(version, "3"):
        return None  # no Keras, or Keras 2, which knows no other backend
    variable = environment.variables.get("KERAS_BACKEND", "")
    backend, source = (keras.backend, keras.backend_source) if keras else (None, None)
    evidence: tuple[Evidence, ...] = saw(keras, "backend", "backend_source") if keras and backend else ()
    if backend is None and variable:
        backend, source = variable, "KERAS_BACKEND"
    if backend is None:
        return Skip("which backend Keras takes is known once it is imported, or if KERAS_BACKEND is set")
    if backend == tables.BACKENDS[0]:
        return None
    if "KERAS_BACKEND" in environment.variables:
        evidence = (*evidence, *saw(environment, "variables.KERAS_BACKEND"))
    by_variable = source in (None, "KERAS_BACKEND")
    where = f"KERAS_BACKEND={backend}" if by_variable else f'"backend": "{backend}" in {source}'
    broken = backend not in tables.BACKENDS or (keras is not None and keras.imported is False)
    if backend not in tables.BACKENDS:
        summary = f"Keras has no backend named {backend} ({where}), so it can't be imported."
    elif broken:
        summary = f"Keras can't be imported: it was told to run on {backend} ({where})."
    elif backend in tables.TRAINING_BACKENDS:
        summary = (
            f"Keras runs on {backend} here ({where}), which is a valid way to train, but not on TensorFlow, which is what this"
            " check verifies."
        )
    else:
        summary = f"Keras runs on {backend} here ({where}), which can't train; this check verifies TensorFlow."
    return Finding(
        summary=summary,
        evidence=evidence,
        fix=(
            Fix(text="To train with TensorFlow, before Python starts", command="export KERAS_BACKEND=tensorflow"),
            Fix(
                text="Or stay, and verify the GPU with that framework's own tools"
                if by_variable
                else f'Or for good: "backend": "tensorflow" in {source}'
            ),
        ),
        severity=Severity.ERROR if broken else None,
    )


def in_log(log: Log) -> Finding | None:
    """Keras names its backend, or does not know the one that it was told to take."""
    invalid = told(log, "keras-backend-invalid")
    other = [event for event in log.events if event.kind == "keras-backend" and event.fields["name"] != tables.BACKENDS[0]]
    absent = [event for event in told(log, "module-missing") if other and event.fields["module"] == other[0].fields["name"]]
    lines = [*invalid, *absent, *other]
    if not lines:
        return None
    name = next((event.fields["name"] for event in lines if event.fields.get("name")), "another one")
    if absent:
        summary = f"Keras was told to run on {name}, which is not installed."
    elif invalid:
        summary = f"Keras can't run on {name}: it has no such backend."
    else:
        summary = f"Keras runs on {name} here, not on TensorFlow."
    return Finding(
        summary=summary,
        evidence=cite(*lines),
        fix=(
            Fix(text="To train with TensorFlow, before Python starts", command="export KERAS_BACKEND=tensorflow"),
            Fix(text='If that changes nothing, set "backend": "tensorflow" in ~/.keras/keras.json'),
        ),
        severity=Severity.ERROR if invalid or absent else None,
    )
