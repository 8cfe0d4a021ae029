"""Keras is told to run on another backend than TensorFlow, by a variable or a file that may have been forgotten.

Symptom:
    keras.backend.backend() prints 'jax' or 'torch'
    TensorFlow lists the GPU, and Keras trains on the CPU
    ValueError: Unable to import backend : theano
Cause:
    Keras 3 reads KERAS_BACKEND, then "backend" in ~/.keras/keras.json, then takes tensorflow. The file is written at the first import
    and survives reinstallation. The choice is made when keras is imported and can't be changed afterwards.
Fix:
    1. To train with TensorFlow, before Python starts
       $ export KERAS_BACKEND=tensorflow
    2. If that changes nothing, set "backend": "tensorflow" in ~/.keras/keras.json
    3. If another one is meant, name that one in the same places: KERAS_BACKEND=torch; gpucheck then leaves TensorFlow out
       $ gpucheck --backend torch
Verify:
    python -c 'import keras; print(keras.backend.backend())' prints tensorflow.
Unless:
    You mean to train with JAX or PyTorch. gpucheck then trains on that backend, and this is only a warning: whoever set it on purpose
    has the answer all the same, and whoever forgot it is told, because it decides which framework every program uses. It is
    silent where TensorFlow is not installed, since nothing can be forgotten there, and with --backend.
Example:
    environment.variables.KERAS_BACKEND = "jax"
    keras.backend = "jax"
    keras.backend_source = "KERAS_BACKEND"
    backend = {"name": "jax", "source": "KERAS_BACKEND", "imported": true, "version": "0.10.2", "built_with_cuda": true, "devices": [{"name": "GPU:0", "kind": "GPU"}, {"name": "CPU:0", "kind": "CPU"}]}
    training.runs[0].backend = "jax"
    training.runs[1].backend = "jax"
    training.runs[1].strategy = "data_parallel"
    log.events = [{"kind": "keras-backend", "line": 5, "text": "Using JAX backend.", "fields": {"name": "jax"}}]
    -> Keras runs on jax here (KERAS_BACKEND=jax) and trains well on it; TensorFlow, which is installed too, was not trained.
References:
    https://keras.io/getting_started/#configuring-your-backend
"""

from gpucheck.compat import keras as tables
from gpucheck.compat import versions
from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.backend import Backend
from gpucheck.probes.environment import Environment
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.keras import Keras
from gpucheck.probes.packages import Packages
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training
from gpucheck.rules._backend import instead, refused
from gpucheck.rules._commands import pip
from gpucheck.rules._tensorflow import tensorflow_absent
from gpucheck.rules._training import failed, passed


@rule(severity=Severity.WARNING, scope=Scope.ENVIRONMENT)
def check(
    request: Request,
    environment: Environment,
    interpreter: Interpreter,
    packages: Packages,
    keras: Keras | None,
    backend: Backend | None,
    tensorflow: TensorFlow | None,
    training: Training | None,
) -> Finding | Skip | None:
    """What Keras said of itself; before it was imported, KERAS_BACKEND, which outweighs keras.json."""
    if request.backend is not None:
        return None  # said on purpose, and in the children it outweighs the environment
    version = (keras.version if keras else None) or (packages.keras.version if packages.keras else None)
    if version is None or not versions.at_least(version, "3"):
        return None  # no Keras, or Keras 2, which knows no other backend
    name, source, evidence = _seen(environment, keras, backend)
    if name is None:
        return Skip("which backend Keras takes is known once it is imported, or if KERAS_BACKEND is set")
    if name == tables.BACKENDS[0]:
        return None
    if tensorflow_absent(packages, tensorflow) and instead(environment, packages, backend):
        return None
    by_variable = source in (None, "KERAS_BACKEND")
    where = f"KERAS_BACKEND={name}" if by_variable else f'"backend": "{name}" in {source}'
    if tensorflow is not None and refused(environment, packages, backend, tensorflow.error or ""):
        evidence += saw(tensorflow, "imported", "error_type", "error")
    imported = (keras.imported if keras else None, backend.imported if backend else None)
    broken = name not in tables.BACKENDS or False in imported
    if name not in tables.BACKENDS:
        summary = f"Keras has no backend named {name} ({where}), so it can't be imported."
    elif broken:
        summary = f"Keras can't be imported: it was told to run on {name} ({where})."
    elif name in {run.backend for run in passed(training)} - {run.backend for run in failed(training)}:
        summary = (
            f"Keras runs on {name} here ({where}) and trains well on it; TensorFlow, which is installed too, was not trained."
        )
    elif name in tables.OTHERS:
        summary = (
            f"Keras runs on {name} here ({where}), which is a valid way to train if it is meant; TensorFlow was not trained."
        )
    else:
        summary = f"Keras runs on {name} here ({where}), which can't train; this check verifies TensorFlow."
    return Finding(
        summary=summary,
        evidence=evidence,
        fix=_fixes(interpreter, name, None if by_variable else source, broken=broken),
        severity=Severity.ERROR if broken else None,
    )


def _seen(
    environment: Environment, keras: Keras | None, backend: Backend | None
) -> tuple[str | None, str | None, tuple[Evidence, ...]]:
    """The backend's name, where it comes from, and what shows it."""
    variable = environment.variables.get("KERAS_BACKEND", "")
    evidence = saw(environment, "variables.KERAS_BACKEND") if "KERAS_BACKEND" in environment.variables else ()
    if keras is not None and keras.backend is not None:
        return keras.backend, keras.backend_source, (*saw(keras, "backend", "backend_source"), *evidence)
    if backend is not None and backend.name != tables.BACKENDS[0]:
        return backend.name, backend.source, (*saw(backend, "name", "source"), *evidence)
    return (variable, "KERAS_BACKEND", evidence) if variable else (None, None, ())


def _fixes(interpreter: Interpreter, name: str, file: str | None, *, broken: bool) -> tuple[Fix, ...]:
    fixes = [Fix(text="To train with TensorFlow, before Python starts", command="export KERAS_BACKEND=tensorflow")]
    if file is not None:
        fixes.append(Fix(text=f'Or for good: "backend": "tensorflow" in {file}'))
    if name in tables.OTHERS and broken:
        fixes.append(Fix(text=f"Or to train with {tables.TITLES[name]}, install it", command=pip(interpreter, name)))
    elif name in tables.OTHERS:
        fixes.append(Fix(text="Or stay, and have that backend judged alone", command=f"gpucheck --backend {name}"))
    return tuple(fixes)
