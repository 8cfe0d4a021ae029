"""Keras, or tf_keras, is not of a version that the installed TensorFlow works with.

Symptom:
    ImportError: Keras cannot be imported. Check that it is installed.
    AttributeError: module 'keras' has no attribute '_tf_keras'
    Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers.
    ModuleNotFoundError: No module named 'tf_keras'
Cause:
    TensorFlow up to 2.15 goes with the Keras 2 of the same minor, TensorFlow from 2.16 on with Keras 3. With TF_USE_LEGACY_KERAS=1,
    tf.keras is tf_keras, whose minor version must be TensorFlow's. Another package's pin often replaced one of them.
Fix:
    1. See which versions are installed
       $ python -m pip list | grep -i -E 'keras|tensorflow'
    2. Install the Keras that TensorFlow asks for
       $ python -m pip install "keras>=3.12.0"
    3. Give programs written for Keras 2 the old Keras, of TensorFlow's own minor version
       $ python -m pip install "tf_keras==2.21.*" && export TF_USE_LEGACY_KERAS=1
    4. Or bring TensorFlow and Keras up together
       $ python -m pip install --upgrade tensorflow keras
Verify:
    python -c 'import tensorflow as tf; print(tf.keras.__version__)'
Unless:
    You never use Keras.
Example:
    packages.keras.version = "2.15.0"
    keras = {"imported": true, "version": "2.15.0", "backend": "tensorflow", "backend_source": "default", "legacy": true}
    training.runs = []
    -> Keras 2.15.0 is installed, and TensorFlow 2.21.0 asks for keras>=3.12.0.
References:
    https://keras.io/getting_started/#tensorflow--keras-2-backwards-compatibility
"""

from gpucheck.compat import keras as tables
from gpucheck.compat import versions
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Scope, Severity, saw
from gpucheck.probes.environment import Environment
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.keras import Keras
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.probes.training import Training
from gpucheck.rules._commands import pip
from gpucheck.rules._log import events


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "training-failed", "training-crashed"),
    tensorflow=True,
)
def check(
    environment: Environment,
    interpreter: Interpreter,
    packages: Packages,
    keras: Keras | None,
    training: Training | None,
    log: Log | None,
) -> Finding | None:
    """TensorFlow's own requirement first, then the legacy switch. A training job that passed makes it a warning."""
    installed = packages.tensorflow
    if installed is None or "nightly" in installed.name:
        return None  # nightly builds take keras-nightly
    spoken = events(log, "keras-version-conflict")
    trained = training is not None and any(run.status == "passed" for run in training.runs)
    asked = packages.keras_requirement or tables.needs(installed.version)
    have = (keras.version if keras else None) or (packages.keras.version if packages.keras else None)
    ask = "asks for" if packages.keras_requirement else "is made for"  # its metadata may not say: then the table of releases does
    title = f"TensorFlow {installed.version} {ask}"
    evidence = (*saw(packages, "keras", "keras_requirement" if packages.keras_requirement else "tensorflow.version"), *spoken)
    if asked and have is None and not (keras is not None and keras.imported):
        return Finding(
            summary=f"Keras is not installed, and {title} keras{asked}.",
            evidence=evidence,
            fix=(_keras(interpreter, ask, asked),),
            severity=Severity.WARNING if trained else None,
        )
    if asked and have and versions.satisfies(have, asked) is False:
        same_major = versions.parse(have)[:1] == (3,) and versions.at_least(
            installed.version, tables.FIRST_TENSORFLOW_WITH_KERAS_3
        )
        return Finding(
            summary=f"Keras {have} is installed, and {title} keras{asked}.",
            evidence=evidence,
            fix=(_keras(interpreter, ask, asked),),
            severity=Severity.WARNING if trained or same_major else None,
        )
    return _legacy(environment, interpreter, packages, trained=trained)


def _legacy(environment: Environment, interpreter: Interpreter, packages: Packages, *, trained: bool) -> Finding | None:
    """TF_USE_LEGACY_KERAS asks for tf_keras, of TensorFlow's own minor."""
    installed, old = packages.tensorflow, packages.tf_keras
    if installed is None or not versions.at_least(installed.version, tables.FIRST_TENSORFLOW_WITH_KERAS_3):
        return None
    if environment.variables.get("TF_USE_LEGACY_KERAS") not in tables.LEGACY_VALUES:
        return None
    if old is not None and tables.tf_keras_matches(old.version, installed.version):
        return None
    state = f"tf_keras {old.version} is installed" if old else "tf_keras is not installed"
    minor = versions.minor(installed.version)
    return Finding(
        summary=f"TF_USE_LEGACY_KERAS asks for Keras 2, but {state}, and TensorFlow {installed.version} needs tf_keras {minor}.",
        evidence=(*saw(environment, "variables.TF_USE_LEGACY_KERAS"), *saw(packages, "tf_keras", "tensorflow.version")),
        fix=(
            Fix(
                text=f"Install the tf_keras of TensorFlow {minor}",
                command=pip(interpreter, f"tf_keras=={minor}.*"),
            ),
            Fix(text="Or use Keras 3", command="unset TF_USE_LEGACY_KERAS"),
        ),
        severity=Severity.WARNING if trained else None,
    )


def _keras(interpreter: Interpreter, ask: str, asked: str) -> Fix:
    return Fix(text=f"Install the Keras that TensorFlow {ask}", command=pip(interpreter, f"keras{asked}"))
