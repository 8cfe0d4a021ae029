"""Keras trains but can't save a model, because h5py can't be imported.

Symptom:
    ImportError: This requires the h5py module. You can install it via `pip install h5py`
    - Training works, and the first checkpoint fails: ModelCheckpoint, model.save or model.save_weights.
Cause:
    Keras stores weights with h5py, also in .keras files. It ignores an error of `import h5py` when it starts, and raises an
    exception only when a model is saved, which may be hours later. h5py is not installed, or it was built for another Python, processor
    or NumPy.
Verify:
    python -c 'import h5py; print(h5py.__version__)' prints a version.
Unless:
    The job saves no model, or uses tf.train.Checkpoint or orbax.
Example:
    keras.saving_error = "ImportError: cannot import name '_errors' from partially initialized module 'h5py'"
    -> Keras can't save models: importing h5py fails with ImportError: cannot import name '_errors' from partially initialized module 'h5py'.
References:
    https://keras.io/guides/serialization_and_saving/
    https://docs.h5py.org/en/stable/build.html
"""

from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import short
from gpucheck.core.probes.keras import Keras
from gpucheck.core.repairs.context import Context


@rule(
    severity=Severity.WARNING,
    scope=Scope.ENVIRONMENT,
    first_check="the exception that import h5py raises",
)
def check(keras: Keras, context: Context) -> Finding | Skip | None:
    """Report the error of h5py in the process that imported Keras."""
    if not keras.imported:
        return Skip("Keras was not imported")
    if keras.saving_error is None:
        return Skip("whether h5py can be imported is not known")
    if not keras.saving_error:
        return None
    return Finding(
        summary=f"Keras can't save models: importing h5py fails with {short(keras.saving_error, 240)}.",
        evidence=saw(keras, "saving_error"),
        fix=repairs(context),
    )


def repairs(context: Context) -> Fixes:
    """Install h5py."""
    reinstalled = context.reinstall(["h5py"])
    yield reinstalled or Fix(text="Install h5py", command=context.pip("--force-reinstall", "--no-deps", "h5py"))
    yield Fix(text="Until then, save weights with TensorFlow: tf.train.Checkpoint(model=model).save(FOLDER)")
