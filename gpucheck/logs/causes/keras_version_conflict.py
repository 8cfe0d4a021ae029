"""What of a log is keras-version-conflict."""

import re

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, clash, told
from gpucheck.rules._own_files import hiding

_PACKAGES = ("keras", "tf_keras", "keras_preprocessing", "keras_applications")  # the last two came with Keras 2 only


def in_log(log: Log) -> Finding | None:
    """A program written for Keras 2 meets Keras 3 or the reverse, Keras is absent, or pip says that versions do not fit."""
    if hiding(log):
        return None  # what is looked into is no package
    spoken = told(log, "keras-version-conflict")
    spoken += [event for event in told(log, "module-missing") if event.fields["module"] in _PACKAGES]
    packages = [event for event in told(log, "pip-conflict") if re.match(r"(?:tf[-_])?keras\b", event.fields.get("needs", ""))]
    if not spoken and not packages:
        return None
    first = min((*spoken, *packages), key=lambda event: event.line)
    if first.kind == "pip-conflict":
        summary = f"{clash(first)}."
    elif first.kind == "module-missing":
        summary = f"{first.fields['module']} is not installed for the Python that ran this."
    else:
        text = first.text if len(first.text) <= 160 else f"{first.text[:157]}..."
        summary = f"Versions of Keras and of what uses it do not fit together: {text.rstrip('.')}."
    return Finding(
        summary=summary,
        evidence=cite(first, *(event for event in (*spoken, *packages) if event is not first)),
        fix=(
            Fix(text="See which versions are installed", command="python -m pip list | grep -i -E 'keras|tensorflow'"),
            Fix(
                text="Give programs written for Keras 2 the old Keras, of TensorFlow's own minor version",
                command="python -m pip install tf_keras && export TF_USE_LEGACY_KERAS=1",
            ),
            Fix(text="Or bring TensorFlow and Keras up together", command="python -m pip install --upgrade tensorflow keras"),
        ),
        severity=None if spoken else Severity.WARNING,
    )
