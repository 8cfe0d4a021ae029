"""What of a log is keras-backend-mismatch."""

from gpucheck.compat import keras as tables
from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._backend import bypassed
from gpucheck.rules._log import cite, told


def in_log(log: Log) -> Finding | None:
    """Keras names its backend, or does not know the one that it was told to take."""
    invalid = told(log, "keras-backend-invalid")
    other = [event for event in log.events if event.kind == "keras-backend" and event.fields["name"] != tables.BACKENDS[0]]
    absent = [event for event in told(log, "module-missing") if other and event.fields["module"] == other[0].fields["name"]]
    lines = [*invalid, *absent, *other]
    if not lines:
        return _bypassed(log)
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


def _bypassed(log: Log) -> Finding | None:
    lines = bypassed(log)
    if not lines:
        return None
    name = lines[-1].fields["name"]
    return Finding(
        summary=f"Keras takes TensorFlow, which is not installed, and not {name}.",
        evidence=cite(*lines),
        fix=(
            Fix(text=f"To train with {name}, before Python starts", command=f"export KERAS_BACKEND={name}"),
            Fix(text=f'Or for good: "backend": "{name}" in ~/.keras/keras.json'),
            Fix(text="Or train with TensorFlow, and install it", command="python -m pip install tensorflow"),
        ),
        severity=Severity.ERROR,
    )
