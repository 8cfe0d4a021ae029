"""KERAS_BACKEND or keras.json selects a Keras backend other than TensorFlow, perhaps unintentionally.

Symptom:
    - keras.backend.backend() prints 'jax' or 'torch'
    - TensorFlow lists the GPU, and Keras trains on the CPU
    ValueError: Unable to import backend : theano
Cause:
    Keras 3 reads KERAS_BACKEND, then "backend" in ~/.keras/keras.json, and uses tensorflow by default. The file is written at the
    first import and survives reinstallation. The backend is chosen when keras is imported and can't be changed afterwards.
Verify:
    python -c 'import keras; print(keras.backend.backend())' prints tensorflow.
Unless:
    You want to train with JAX or PyTorch. gpucheck then trains on that backend, and this is only a warning, because the setting
    decides which framework every program uses. It is not reported if TensorFlow is not installed, or with --backend.
Example:
    environment.variables.KERAS_BACKEND = "jax"
    keras.backend = "jax"
    keras.backend_source = "KERAS_BACKEND"
    backend = {"name": "jax", "source": "KERAS_BACKEND", "imported": true, "version": "0.10.2", "built_with_cuda": true, "devices": [{"name": "GPU:0", "kind": "GPU"}, {"name": "CPU:0", "kind": "CPU"}]}
    training.runs[0].backend = "jax"
    training.runs[1].backend = "jax"
    training.runs[1].strategy = "data_parallel"
    log.events = [{"kind": "keras-backend", "line": 5, "text": "Using JAX backend.", "fields": {"name": "jax"}}]
    -> Keras runs on jax here (KERAS_BACKEND=jax), and training passed; TensorFlow, which is also installed, was not tested.
References:
    https://keras.io/getting_started/#configuring-your-backend
"""

import msgspec

from gpucheck.core.combiners.keras_backend import KerasBackend, missing_packages
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.compat import versions
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Request, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context


class NamedBackend(msgspec.Struct, frozen=True):
    """The backend that Keras uses, and its source."""

    name: str
    source: str | None  # "KERAS_BACKEND", the path of keras.json; None if unknown
    evidence: tuple[Evidence, ...]

    @property
    def file(self) -> str | None:
        """The file that configures it; None: the variable does."""
        return None if self.source in (None, "KERAS_BACKEND") else self.source

    @property
    def where(self) -> str:
        """The setting, for messages."""
        return f"KERAS_BACKEND={self.name}" if self.file is None else f'"backend": "{self.name}" in {self.file}'


@rule(severity=Severity.WARNING, scope=Scope.ENVIRONMENT, first_check="KERAS_BACKEND and ~/.keras/keras.json")
def check(
    request: Request,
    backend: KerasBackend,
    build: TensorFlowBuild,
    outcomes: TrainingOutcomes,
    packages: Packages,
    context: Context,
) -> Finding | Skip | None:
    """Report the backend of the imported Keras; before the import, that of KERAS_BACKEND, which overrides keras.json."""
    if request.backend is not None:
        return None  # requested, and overrides the environment in the children
    if backend.keras_version is None or not versions.at_least(backend.keras_version, "3"):
        return None  # no Keras, or Keras 2, which has no other backend
    named = _named(backend)
    if named is None:
        return Skip("which backend Keras uses is known only after its import, or if KERAS_BACKEND is set")
    if named.name == keras_tables.BACKENDS[0] or (build.absent and backend.ready):
        return None
    tensorflow = build.tensorflow
    refused = tensorflow is not None and backend.refused(tensorflow.error or "")
    imported = [fact.imported for fact in (backend.keras, backend.backend) if fact is not None]
    required = keras_tables.PACKAGES.get(named.name, ())
    lacks = required and set(missing_packages(packages, named.name)) & set(required)
    absent = bool(lacks) and True not in imported
    broken = named.name not in keras_tables.BACKENDS or False in imported or absent
    return Finding(
        summary=_summary(named, outcomes, broken=broken, absent=absent),
        evidence=(
            *named.evidence,
            *(saw(tensorflow, "imported", "error_type", "error") if refused else ()),
        ),
        fix=repairs(context, name=named.name, file=named.file or "", broken=broken),
        severity=Severity.ERROR if broken else None,
    )


def _named(keras_backend: KerasBackend) -> NamedBackend | None:
    environment, keras, backend = keras_backend.environment, keras_backend.keras, keras_backend.backend
    variable = environment.variables.get("KERAS_BACKEND", "")
    evidence = saw(environment, "variables.KERAS_BACKEND") if "KERAS_BACKEND" in environment.variables else ()
    if keras is not None and keras.backend is not None:
        own = saw(keras, "backend", "backend_source")
        return NamedBackend(keras.backend, keras.backend_source, (*own, *evidence))
    if backend is not None and backend.name != keras_tables.BACKENDS[0]:
        return NamedBackend(backend.name, backend.source, (*saw(backend, "name", "source"), *evidence))
    if variable or environment.keras_json_backend is None:
        return NamedBackend(variable, "KERAS_BACKEND", evidence) if variable else None
    settings = saw(environment, "keras_json", "keras_json_backend")
    return NamedBackend(environment.keras_json_backend, environment.keras_json, settings)


def _summary(named: NamedBackend, outcomes: TrainingOutcomes, *, broken: bool, absent: bool) -> str:
    name = named.name
    if name not in keras_tables.BACKENDS:
        return f"Keras has no backend named {name} ({named.where}), so it can't be imported."
    if broken:
        why = ", which is not installed" if absent else ""
        return f"Keras can't be imported: it is set to run on {name} ({named.where}){why}."
    runs = f"Keras runs on {name} here ({named.where})"
    if name in {run.backend for run in outcomes.passed} - {run.backend for run in outcomes.failed}:
        return f"{runs}, and training passed; TensorFlow, which is also installed, was not tested."
    if name in keras_tables.OTHERS:
        return f"{runs}, which is fine if it is intended; TensorFlow was not tested."
    return f"{runs}, which can't train; this check verifies TensorFlow."


def repairs(
    context: Context, *, name: str = "", module: str = "", file: str = "", broken: bool = False, set_by: str = ""
) -> Fixes:
    """Make Keras train on TensorFlow, or install the configured backend.

    Args:
        context: what is known about the machine.
        name: the configured backend; empty if unknown.
        module: the missing module.
        file: the keras.json that configures the backend; empty if unknown, or if the variable does.
        broken: whether the import of Keras fails with it.
        set_by: "program" if a log shows that the program itself sets the variable.
    """
    if module == keras_tables.BACKENDS[0]:  # TensorFlow is missing, although another backend is configured
        yield Fix(text="Install TensorFlow, which Keras uses by default", command=context.pip("tensorflow"))
        yield Fix(text="Or set KERAS_BACKEND to the backend that you want, before Python starts: KERAS_BACKEND=theano")
        return
    other = name in keras_tables.OTHERS
    install = (
        Fix(text=f"To train with {keras_tables.TITLES.get(name, name)}, install it", command=context.pip(name)) if other else None
    )
    if install is not None and module:
        yield install
    if set_by:
        yield Fix(
            text='Or to train with TensorFlow: os.environ["KERAS_BACKEND"] = "tensorflow", in the program, before it imports keras'
        )
    else:
        yield Fix(text="To train with TensorFlow, before Python starts", command="export KERAS_BACKEND=tensorflow")
    if not name or file:
        yield Fix(text=f'Or permanently: "backend": "tensorflow" in {file or "~/.keras/keras.json"}')
    if install is not None and broken:
        yield install.after("Or")
    elif (other and not module) or not name:
        yield Fix(text="Or keep it, and check only that backend", command=f"gpucheck --backend {name or 'jax'}")
