"""Canonical names, independent of how a file imports them: ``tf.keras.models.Sequential`` is ``keras.Sequential``."""

import functools
import re

_KERAS = re.compile(r"^(?:tensorflow\.(?:python\.(?!keras\.backend)|compat\.v2\.)?keras|tf_keras|keras_core)(?=\.|$)")
_SAME = (
    (re.compile(r"^tensorflow\.compat\.v2(?=\.|$)"), "tensorflow"),
    (re.compile(r"^(tensorflow\.distribute)\.experimental\.(?=\w+Strategy$)"), r"\1."),
    (re.compile(r"^(tensorflow\.config)\.experimental\.(?=list_|set_visible|set_memory|set_virtual|get_)"), r"\1."),
    (re.compile(r"^(tensorflow\.data)\.experimental\.(?=AUTOTUNE$)"), r"\1."),
    (re.compile(r"^keras\.(?:models|engine\.\w+|engine|src\.models\.\w+)\.(?=(?:Sequential|Model|Functional)$)"), "keras."),
    (re.compile(r"^keras\.(?:layers|engine)\.Input$"), "keras.Input"),
    (re.compile(r"^tensorflow\.(?=(?:initializers|losses|metrics|optimizers)\.)"), "keras."),
    (re.compile(r"^keras\.saving\.load_model$"), "keras.models.load_model"),
    (re.compile(r"^keras\.mixed_precision\.experimental\."), "keras.mixed_precision."),
    (re.compile(r"^keras\.(?:optimizers\.(?:legacy|experimental|schedules)|optimizers_v[12]\.\w+)\."), "keras.optimizers."),
)


@functools.lru_cache(4096)
def canonical(path: str) -> str:
    """Return the canonical form of a dotted name. ``tensorflow.compat.v1`` is kept: it behaves differently."""
    if not path.startswith(("tensorflow", "keras", "tf_keras")):
        return path
    path = _KERAS.sub("keras", path)
    for pattern, better in _SAME:
        path = pattern.sub(better, path)
    return path
