"""KERAS_BACKEND is set after Keras was imported, too late to have an effect.

Symptom:
    - keras.backend.backend() returns 'tensorflow' although the script chose 'jax'
    - Using TensorFlow backend.
Cause:
    Keras reads KERAS_BACKEND once, while it is imported. TensorFlow 2.16 or later, KerasHub, KerasCV and KerasTuner also
    import Keras.
Fix:
    1. Set it above every import of Keras and TensorFlow, right after import os.
    2. Or set it outside the program
       $ export KERAS_BACKEND=jax
Verify:
    print(keras.backend.backend()) prints the backend that you chose.
Unless:
    The variable is for processes that start later. Scripts that import subprocess, multiprocessing or a library that starts
    workers, or that start programs through os, are not reported.
Example:
    bad:
        import os
        import keras
        os.environ["KERAS_BACKEND"] = "jax"
    good:
        import os
        os.environ["KERAS_BACKEND"] = "jax"
        import keras
References:
    https://keras.io/getting_started/#configuring-your-backend
"""

from gpucheck.commands.lint.lookup import before, constant
from gpucheck.commands.lint.script import WORKERS, Findings, Script, at, rule
from gpucheck.commands.lint.values import Import, Value

VARIABLE = "KERAS_BACKEND"
CORE = "keras_core"  # reads the variable itself, even if Keras was imported before
KERAS = {"keras", "keras_hub", "keras_cv", "keras_nlp", "keras_tuner", "keras_core"}
# Modules that may start or reload a module that reads the variable.
LATER = {"subprocess", "multiprocessing", "concurrent", "importlib", "imp"}
STARTS = ("os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.popen", "os.startfile", "pty.spawn")


@rule(explains=("keras-backend-mismatch",), words=("KERAS_BACKEND",))
def check(script: Script) -> Findings:
    """Report an assignment that definitely follows an import, unless one also precedes it."""
    if script.modules() & (LATER | WORKERS) or script.mentions("sys.modules", "six.moves.reload_module"):
        return
    if any(name.startswith(STARTS) for name in script.names):
        return
    chosen = [setting for setting in script.settings if setting.name == VARIABLE]
    for event, _, value in chosen:
        late = next((one for one in script.imports if before(one.place, event.place) and _reads(one, value)), None)
        if late is None or any(other.event.place.order < late.place.order for other in chosen):
            continue
        later = (one.module for one in script.imports if one.place.order > event.place.order)
        if not late.module.startswith(CORE) and any(module.startswith(CORE) for module in later):
            continue
        what = late.module if not late.names or late.module != "tensorflow" else f"{late.module}.{late.names[0]}"
        message = f"{VARIABLE} is set after {what} was imported in {script.where(late.node)}: Keras has already read it."
        yield at(event.node, message, "Move the assignment above every import of Keras and TensorFlow.")


def _reads(event: Import, value: Value) -> bool:
    top = event.module.partition(".")[0]
    if top in KERAS or event.module.startswith("tensorflow.keras") or (event.module == "tensorflow" and "keras" in event.names):
        return True
    # TensorFlow before 2.16 does not import Keras 3; the value "tensorflow" is the default either way.
    return top == "tensorflow" and isinstance(constant(value), str) and constant(value) != "tensorflow"
