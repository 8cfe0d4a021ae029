"""The script configures GPUs through a TensorFlow 1 session, which TensorFlow 2 removed or ignores.

Symptom:
    AttributeError: module 'tensorflow' has no attribute 'ConfigProto'
    AttributeError: module 'tensorflow' has no attribute 'Session'
    AttributeError: module 'keras._tf_keras.keras.backend' has no attribute 'set_session'
    AttributeError: module 'keras.backend' has no attribute 'set_session'
Cause:
    tf.Session, tf.ConfigProto and tf.GPUOptions were removed in TensorFlow 2. The options still
    exist as tf.compat.v1.ConfigProto, but device_count affects only the session they are passed to: Keras runs without a
    session, and Keras 3 has no set_session.
Verify:
    The script runs, and tf.config.list_logical_devices() lists the devices that you configured.
Unless:
    The program uses graphs and sessions deliberately: import tensorflow.compat.v1, and it is not reported. Scripts with a
    condition on TensorFlow's version support both and are not reported. tf.compat.v1.keras.backend.set_session exists in
    Keras 2; it is not reported in files that mention Keras 2 or a TensorFlow before 2.16.
Example:
    bad:
        import tensorflow as tf
        config = tf.ConfigProto()
        config.gpu_options.allow_growth = True
        session = tf.Session(config=config)
    good:
        import tensorflow as tf
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
References:
    https://www.tensorflow.org/guide/migrate
    https://www.tensorflow.org/guide/gpu
"""

from collections.abc import Iterator

from gpucheck.commands.lint.devices import GRAPHS, expected_to_fail
from gpucheck.commands.lint.lookup import constant, is_call, options
from gpucheck.commands.lint.removed import CAUGHT, COMPATIBLE, assigned_names, fails
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.core.compat.removed import SESSIONS
from gpucheck.core.model import Fix
from gpucheck.core.repairs.context import Context

USES_GRAPHS = (*GRAPHS, "compat.v1.Session", "compat.v1.InteractiveSession", "compat.v1.train.")
GRAPH_SESSIONS = ("tensorflow.compat.v1.Session", "tensorflow.compat.v1.InteractiveSession")
FIX = "Use tf.config: set_memory_growth, set_logical_device_configuration, set_visible_devices."
WITHOUT_SESSION = (
    "TensorFlow 2 has no session: call functions directly (model.fit, or yours with @tf.function), or use tf.compat.v1.Session"
    " after tf.compat.v1.disable_eager_execution()"
)
OPTIONS = (
    Fix(text="Instead of gpu_options.allow_growth: tf.config.experimental.set_memory_growth(gpu, True) for every GPU"),
    Fix(text="Instead of per_process_gpu_memory_fraction: tf.config.set_logical_device_configuration"),
    Fix(text='Instead of device_count={"GPU": 0}: tf.config.set_visible_devices([], "GPU")'),
)
CONFIGS = ("tensorflow.ConfigProto", "tensorflow.GPUOptions")
INSTEAD = {  # options of a session, and what replaces them
    "allow_growth": "tf.config.experimental.set_memory_growth(gpu, True) for every GPU",
    "allow_soft_placement": "tf.config.set_soft_device_placement(True)",
    "device_count": "tf.config.set_visible_devices",
    "inter_op_parallelism_threads": "tf.config.threading.set_inter_op_parallelism_threads",
    "intra_op_parallelism_threads": "tf.config.threading.set_intra_op_parallelism_threads",
    "log_device_placement": "tf.debugging.set_log_device_placement(True)",
    "per_process_gpu_memory_fraction": "tf.config.set_logical_device_configuration",
    "visible_device_list": "tf.config.set_visible_devices",
}


def repairs(context: Context, *, name: str = "") -> Iterator[Fix]:
    """Yield the replacement of a removed option or session; ``name`` is the removed name: "tf.Session"."""
    old = [COMPATIBLE] if name.startswith("tf.") or not name else []
    without = Fix(text=WITHOUT_SESSION)
    yield from [*old, without, *OPTIONS] if name.endswith("Session") else [*OPTIONS, without, *old]


@rule(words=("Session", "ConfigProto", "GPUOptions", "set_session", "get_session"))
def check(script: Script) -> Findings:
    """Report calls of removed names, unless the script supports several versions; device_count if Keras trains."""
    used = {constant(store.key) for store in script.stores}
    used.update(name for call in script.calls_named(*CONFIGS) for name in call.keywords)
    instead = ", ".join(dict.fromkeys(new for old, new in INSTEAD.items() if old in used))
    replaced = f"Use {instead}." if instead else ""
    assigned = set(assigned_names(script))
    for call in script.calls_named(*SESSIONS) if not script.checks_versions else ():
        if fails(call.name, call.place, assigned):
            by = "Keras 3" if call.name.startswith("keras") else "TensorFlow 2"
            fix = f"{replaced} {WITHOUT_SESSION}.".lstrip() if call.name.endswith(("Session", "get_session")) else replaced or FIX
            yield at(call.node, f"{SESSIONS[call.name]} was removed in {by}.", fix)
    yield from _sessions_of_keras_2(script)
    eager = not any(word in name for name in script.names for word in USES_GRAPHS)
    if eager and script.methods("fit") and any(name.startswith("keras.") for name in script.names):
        message = "device_count affects only a session, and Keras trains without one: it has no effect here."
        for call in script.calls_named("tensorflow.compat.v1.ConfigProto"):
            if "device_count" in call.keywords:
                yield at(call.node, message, 'Use tf.config.set_visible_devices([], "GPU") to hide GPUs.')


def _sessions_of_keras_2(script: Script) -> Findings:
    """Report a configured session that is passed to Keras through compat.v1; Keras 3 has no such function."""
    tried = any(event.place.catches(*CAUGHT) for event in script.imports if event.module.startswith("tensorflow.compat.v1"))
    if tried or not script.uses_keras_3 or any(name.endswith(GRAPHS) for name in script.names):
        return
    for call in script.calls_named("tensorflow.compat.v1.keras.backend.set_session"):
        sessions = list(options(call.argument("session", 0)))
        configured = all(is_call(session, *GRAPH_SESSIONS) and "config" in session.keywords for session in sessions)
        if sessions and configured and not expected_to_fail(call.place, *CAUGHT):
            message = "set_session is missing in Keras 3 (in TensorFlow since 2.16): Keras runs without a session."
            yield at(call.node, message, FIX)
