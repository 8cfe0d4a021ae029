"""The installed version of Keras, or tf_keras, does not work with the installed TensorFlow.

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
       ? python -m pip list | grep -i -E 'keras|tensorflow'
    2. Install the Keras version that TensorFlow requires
       $ python -m pip install "keras>=3.12.0"
    3. Give programs written for Keras 2 the old Keras, of TensorFlow's own minor version
       $ python -m pip install "tf_keras==2.21.*" && export TF_USE_LEGACY_KERAS=1
    4. Or upgrade TensorFlow and Keras together
       $ python -m pip install --upgrade tensorflow keras
Verify:
    $ python -c 'import tensorflow as tf; print(tf.keras.__version__)'
Unless:
    You never use Keras.
Example:
    packages.keras.version = "2.15.0"
    keras = {"imported": true, "version": "2.15.0", "backend": "tensorflow", "backend_source": "default", "legacy": true}
    training.runs = []
    -> Keras 2.15.0 is installed, but TensorFlow 2.21.0 requires keras>=3.12.0.
References:
    https://keras.io/getting_started/#tensorflow--keras-2-backwards-compatibility
"""

from gpucheck.core.combiners.installation import Installation
from gpucheck.core.combiners.keras_backend import KerasBackend
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.compat import versions
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.environment import Environment


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "training-failed", "training-crashed"),
    tensorflow=True,
)
def check(backend: KerasBackend, outcomes: TrainingOutcomes) -> Finding | None:
    """TensorFlow's own requirement first, then the legacy switch. A training job that passed makes it a warning."""
    keras, installation = backend.keras, backend.installation
    packages = installation.packages
    tensorflow = packages.tensorflow
    if tensorflow is None or "nightly" in tensorflow.name:
        return None  # nightly builds take keras-nightly
    wanted = packages.keras_requirement or keras_tables.needs(tensorflow.version)
    have = backend.keras_version
    state = _state(have, wanted, bool(keras is not None and keras.imported))
    if wanted is None or state is None:
        return _legacy(backend.environment, installation, trained=bool(outcomes.passed))
    # Its metadata may not say: then the table of releases does.
    asks = "requires" if packages.keras_requirement else "is made for"
    field = "keras_requirement" if packages.keras_requirement else "tensorflow.version"
    return Finding(
        summary=f"{state}, but TensorFlow {tensorflow.version} {asks} keras{wanted}.",
        evidence=(*saw(packages, "keras", field), *outcomes.saw_events(Kind.KERAS_VERSION_CONFLICT)),
        fix=(Fix(text=f"Install the Keras that TensorFlow {asks}", command=installation.context.pip(f"keras{wanted}")),),
        severity=Severity.WARNING if outcomes.passed or _same_major(have, tensorflow.version) else None,
    )


def _state(have: str | None, wanted: str | None, imported: bool) -> str | None:
    """What is wrong with the Keras that is installed; None: nothing."""
    if not wanted:
        return None
    if have is None:
        return None if imported else "Keras is not installed"
    return f"Keras {have} is installed" if versions.satisfies(have, wanted) is False else None


def _same_major(have: str | None, tensorflow: str) -> bool:
    """Whether both are of Keras 3."""
    new = versions.at_least(tensorflow, keras_tables.FIRST_TENSORFLOW_WITH_KERAS_3)
    return have is not None and versions.parse(have)[:1] == (3,) and new


def _legacy(environment: Environment, installation: Installation, *, trained: bool) -> Finding | None:
    """TF_USE_LEGACY_KERAS asks for tf_keras, of TensorFlow's own minor."""
    tensorflow, old = installation.packages.tensorflow, installation.packages.tf_keras
    if tensorflow is None or not versions.at_least(tensorflow.version, keras_tables.FIRST_TENSORFLOW_WITH_KERAS_3):
        return None
    if environment.variables.get("TF_USE_LEGACY_KERAS") not in keras_tables.LEGACY_VALUES:
        return None
    if old is not None and keras_tables.tf_keras_matches(old.version, tensorflow.version):
        return None
    state = f"tf_keras {old.version} is installed" if old else "tf_keras is not installed"
    minor = versions.minor(tensorflow.version)
    return Finding(
        summary=f"TF_USE_LEGACY_KERAS selects Keras 2, but {state}, and TensorFlow {tensorflow.version} needs tf_keras {minor}.",
        evidence=(
            *saw(environment, "variables.TF_USE_LEGACY_KERAS"),
            *saw(installation.packages, "tf_keras", "tensorflow.version"),
        ),
        fix=(
            Fix(text=f"Install the tf_keras of TensorFlow {minor}", command=installation.context.pip(f"tf_keras=={minor}.*")),
            Fix(text="Or use Keras 3", command="unset TF_USE_LEGACY_KERAS"),
        ),
        severity=Severity.WARNING if trained else None,
    )
