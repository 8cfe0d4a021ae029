"""The installed version of Keras, or tf_keras, does not work with the installed TensorFlow.

Symptom:
    ImportError: Keras cannot be imported. Check that it is installed.
    AttributeError: module 'keras' has no attribute '_tf_keras'
    Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers.
    ModuleNotFoundError: No module named 'tf_keras'
Cause:
    TensorFlow up to 2.15 needs Keras 2 of the same minor version, and from 2.16 on Keras 3. With TF_USE_LEGACY_KERAS=1,
    tf.keras is tf_keras, whose minor version must be TensorFlow's. Often, another package's pin has replaced one of them.
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

import re

from gpucheck.core.combiners.keras_backend import KerasBackend
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import keras as keras_tables
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, rule, saw
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context

# Arguments in a saved model that Keras 2 does not support.
_OF_KERAS_3 = (
    r"recognized\W.*'(?:batch_shape|optional|autocast|quantization_config)\b|'batch_shape\b"
    r"|parent module keras\.src\.models\b"
)
# Errors from changes in Keras 3, and what to write instead (https://keras.io/guides/migrating_to_keras_3/).
_IN_KERAS_3 = {
    "Could not locate class": "Pass the class to load_model in custom_objects, or decorate it with"
    " @keras.saving.register_keras_serializable()",
    r"must end in `?(\.[\w.]*\w)": r"End the file name with \1",
    "Please add either": "End the file name with .keras, or use model.export for a SavedModel",
    r"cannot import name '(\w+)' from '(?:tensorflow\.)?keras\.layers\.": r"Import it from keras.layers: from keras.layers import \1",
    r"keras\.engine\.topology": "Use the documented import: from keras.layers import Input, Layer",
    "'batch_input_shape": "Start the model with keras.Input(batch_shape=...) instead of this argument",
    r"passed to Embedding: \{'weights": "Pass the matrix as embeddings_initializer=keras.initializers.Constant(matrix)",
    r"'lr\b|^lr is": "Rename the optimizer's argument lr to learning_rate",
    r"'decay\b|^decay is": "Replace the optimizer's argument decay with a schedule: learning_rate=keras.optimizers.schedules.ExponentialDecay(...)",
    "'time_major|'implementation": "Save the model again as .keras with the Keras that created it, or remove this argument from the layer",
    "A KerasTensor (?:cannot|is)": "Use keras.ops instead of TensorFlow's function, or call that function in your own keras.Layer",
    "File format not supported|Keras 3 only supports": "Load the SavedModel as a layer: keras.layers.TFSMLayer(PATH,"
    ' call_endpoint="serving_default"), or save it again as .keras',
    "got an unexpected keyword": "Remove this argument, which Keras 3 does not have here (workers and use_multiprocessing belong to"
    " keras.utils.PyDataset)",
    r"Only instances of `?keras\.Layer": "Wrap it in your own keras.Layer that calls it: Keras 3 does not accept it as a layer",
    "shape of the Lambda": "Give the Lambda layer its output_shape",
    "got multiple values": "Pass the arguments by name: add_weight(name=..., shape=...)",
    "as many entries": "Pass metrics for each output: a list of lists, or a dict keyed by output name",
    "originally built with": "Create a new optimizer for each model, after the model has all its variables",
    "optimizer identifier": "For a Keras 2 model (such as Transformers' TensorFlow models), use an optimizer from tf_keras, not from keras",
    "LossScaleOptimizer": "Remove get_scaled_loss and get_unscaled_gradients: in Keras 3, optimizer.scale_loss(loss) and apply do both",
    r"'tensorflow\.python": "Import from tensorflow.keras: tensorflow.python.keras is private and not maintained",
    "__sklearn_tags__": "Install a newer scikeras, or a scikit-learn below 1.6",
}
_USE_KERAS_2 = ("tf_keras", "tensorflow_hub")
_MOVED = r"No module named '(keras\.\w+\.\w+)"  # in 2.13, to keras.src
_INSIDE = r"keras\.(?:src\.)?engine\b"
# What only Keras 2 has or accepts, or what requires it.
_OF_KERAS_2 = rf"(?i){_INSIDE}|tf[-_]keras|keras 3|recognized|deserialize|locate class|KerasTensor|module 'keras\._tf_keras|tensorflow\.python\.keras|can only (?:either )?be"


@rule(
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "training-failed", "training-crashed"),
    tensorflow=True,
    first_check="the last exception, and the versions of TensorFlow and Keras",
)
def check(backend: KerasBackend, outcomes: TrainingOutcomes, packages: Packages, context: Context) -> Finding | None:
    """Check TensorFlow's own requirement, then TF_USE_LEGACY_KERAS; only a warning if a training job passed."""
    keras = backend.keras
    tensorflow = packages.tensorflow
    if tensorflow is None or "nightly" in tensorflow.name:
        return None  # nightly builds use keras-nightly
    required = packages.keras_requirement or keras_tables.needs(tensorflow.version)
    have = backend.keras_version
    state = _state(have, required, bool(keras is not None and keras.imported))
    if required is None or state is None:
        return _legacy(backend, packages, context, trained=bool(outcomes.passed))
    # If its metadata has no requirement, use the table of releases.
    verb = "requires" if packages.keras_requirement else "is made for"
    field = "keras_requirement" if packages.keras_requirement else "tensorflow.version"
    return Finding(
        summary=f"{state}, but TensorFlow {tensorflow.version} {verb} keras{required}.",
        evidence=(*saw(packages, "keras", field), *outcomes.saw_events("keras-version-conflict")),
        fix=repairs(context, needs=f"keras{required}"),
        severity=Severity.WARNING if outcomes.passed or _same_major(have, tensorflow.version) else None,
    )


def _state(have: str | None, required: str | None, imported: bool) -> str | None:
    """Return the problem with the installed Keras; None if there is none."""
    if not required:
        return None
    if have is None:
        return None if imported else "Keras is not installed"
    return f"Keras {have} is installed" if versions.satisfies(have, required) is False else None


def _same_major(have: str | None, tensorflow: str) -> bool:
    """Whether Keras 3 is installed and this TensorFlow needs Keras 3."""
    new = versions.at_least(tensorflow, keras_tables.FIRST_TENSORFLOW_WITH_KERAS_3)
    return have is not None and versions.parse(have)[:1] == (3,) and new


def _legacy(backend: KerasBackend, packages: Packages, context: Context, *, trained: bool) -> Finding | None:
    """Report TF_USE_LEGACY_KERAS without a tf_keras of TensorFlow's minor version."""
    environment = backend.environment
    tensorflow, old = packages.tensorflow, packages.tf_keras
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
            *saw(packages, "tf_keras", "tensorflow.version"),
        ),
        fix=repairs(context, module="tf_keras"),
        severity=Severity.WARNING if trained else None,
    )


def repairs(
    context: Context, *, package: str = "", needs: str = "", found: str = "", module: str = "", message: str = ""
) -> Fixes:
    """Install the Keras that the message requires, else the one that TensorFlow requires.

    Args:
        context: what is known about the machine.
        package: the package whose requirement is not met.
        needs: that requirement: "keras>=3.12.0".
        found: the installed package: "keras 3.3.3".
        module: the missing module: "keras", "tf_keras".
        message: the error.
    """
    changed = [Fix(text=match.expand(text)) for pattern, text in _IN_KERAS_3.items() if (match := re.search(pattern, message))]
    by_other_package = context.raised_in not in (None, "", "keras", "tf_keras", "tensorflow")
    yield from () if by_other_package else changed  # another package's error is not in the user's program
    own = context.packages.tensorflow if context.packages is not None else None
    version = own.version if own is not None else context.framework_version
    release = releases.release(version or "")
    if re.match(r"tf[-_]keras", package):
        yield from _keras_2(context, found.rpartition(" ")[2], "not installed")
    elif needs := needs or _instead_of_keras_2(context, message):
        yield Fix(text="Install the required version", command=context.pip(needs))
    elif re.search(_OF_KERAS_3, message):
        newest = context.pip("--upgrade", "tensorflow", "keras")
        yield Fix(text="Install Keras 3, with which this model was saved, and a compatible TensorFlow", command=newest)
    elif changed or (module in ("", "tf_keras", "keras") and re.search(_OF_KERAS_2, f"{module} {message}")):
        yield from _keras_2(context, version, message)
    elif module and module != "keras":
        name = module.replace("_", "-")
        yield Fix(text=f"Install {name}, which Keras 3 no longer includes", command=context.pip(name))
    elif release is not None and versions.at_least(release.minor, "2.13") and (moved := re.search(_MOVED, message)):
        yield Fix(text=f"Update the package that imports {moved[1]}, which Keras moved in 2.13")
        new = versions.at_least(context.python_version or "0", "3.12")  # which 2.12 has no packages for
        before = context.new_environment("tensorflow<2.13", python="3.11") if new else context.pip("tensorflow<2.13")
        yield Fix(text="Or install the last TensorFlow before that", command=before)
    elif release is not None:
        command = context.pip(f"keras{release.keras}")
        yield Fix(text=f"Install the Keras that TensorFlow {release.minor} requires", command=command)
    else:
        yield from _of_any_release(context, message)
    if not (needs or module or message):
        yield from _keras_2(context, version, message)
    if context.interpreter is None:
        yield Fix.look("Check which versions are installed", f"{context.python} -m pip list | grep -i -E 'keras|tensorflow'")


def _of_any_release(context: Context, message: str) -> Fixes:
    """Yield the repairs for a log that names neither a required version nor TensorFlow's."""
    removed = re.search(r"No module named '(keras\.\w+)'", message)
    if removed is not None:
        yield Fix(
            text=f"Update the package that imports {removed[1]}, which current releases of Keras do not have, or replace it"
        )
        return
    if not message or "cannot be imported" in message:
        yield Fix(text="Install Keras", command=context.pip("keras"))
    keras = "tf-keras" if context.raised_in in _USE_KERAS_2 else "keras"
    together = context.pip("--upgrade", "tensorflow", keras)
    yield Fix(text="Install compatible releases of TensorFlow and Keras", command=together)


def _instead_of_keras_2(context: Context, message: str) -> str:
    """Return the Keras that TensorFlow needs, if Keras 2 failed to start on it; "" for tf_keras, and for other messages."""
    if "register_load_context" not in message or context.raised_in in _USE_KERAS_2:
        return ""
    release = releases.release(context.framework_version or "") or releases.RELEASES[releases.LATEST]
    return f"keras{release.keras}"


def _keras_2(context: Context, version: str | None, message: str) -> Fixes:
    """Use Keras 2 of TensorFlow's minor version, for programs that were written for it."""
    if re.search(_INSIDE, message):
        command = context.pip(f"tensorflow<{keras_tables.FIRST_TENSORFLOW_WITH_KERAS_3}")
        last = Fix(
            text="Install the last TensorFlow with Keras 2, whose internal modules this program or package imports",
            command=command,
        )
        yield from (last,) if context.framework_before is None else ()
        yield Fix(text="Or use a release of that package for Keras 3, or do without it (TensorFlow Addons ended in 2024)")
        return
    minor = versions.minor(version or "")
    requirement = f"tf_keras=={minor}.*" if versions.at_least(minor, keras_tables.FIRST_TENSORFLOW_WITH_KERAS_3) else "tf-keras"
    own = context.packages.tensorflow if context.packages is not None else None
    # tf_keras requires the package tensorflow, which would replace a package with another name
    install = context.pip(*(["--no-deps"] if own is not None and own.name != "tensorflow" else []), requirement)
    select = "set" if context.windows else "export"
    if context.interpreter is not None or re.search(r"(?i)install|No module|not installed", message) or context.notebook:
        yield Fix(text=f"Install Keras 2{f' for TensorFlow {minor}' if minor else ''}, as tf-keras", command=install)
        if context.notebook:
            yield Fix(text='Before TensorFlow is imported: os.environ["TF_USE_LEGACY_KERAS"] = "1"')
    else:
        text = "Run this program with Keras 2, which it was written for"
        yield Fix(text=text, command=f"{install} && {select} TF_USE_LEGACY_KERAS=1")
    if context.interpreter is not None:
        yield Fix(text="Or use Keras 3", command="unset TF_USE_LEGACY_KERAS")
