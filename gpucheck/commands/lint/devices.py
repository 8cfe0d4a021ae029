"""Helpers for rules about GPUs: calls that initialize TensorFlow's devices, and lists of devices."""

import ast
import re

from gpucheck.commands.lint.layers import builds
from gpucheck.commands.lint.lookup import all_calls, before, constant, is_call, options, parts
from gpucheck.commands.lint.script import Script
from gpucheck.commands.lint.values import Call, Element, Place, Value

# Calls that definitely run an operation or list logical devices: TensorFlow initializes every visible GPU for them.
STARTS = re.compile(
    r"tensorflow\.(constant|Variable|zeros|ones|zeros_like|ones_like|eye|fill|range|linspace|convert_to_tensor|matmul|add|multiply"
    r"|reduce_(sum|mean|max|min)|random\.(normal|uniform|truncated_normal|shuffle|categorical)|linalg\.matmul|math\.\w+"
    r"|config\.list_logical_devices|distribute\.(MirroredStrategy|MultiWorkerMirroredStrategy|CentralStorageStrategy)"
    r"|ragged\.constant|data\.Dataset\.from_generator|cast|one_hot|random\.Generator\.from_seed|summary\.create_file_writer"
    r"|data\.(Dataset\.(from_tensors|from_tensor_slices|range|list_files)|TFRecordDataset|TextLineDataset))"
)
# These also initialize every visible GPU, without using one.
PLACES = re.compile(r"tensorflow\.(device|distribute\.OneDeviceStrategy)")
# The same applies to Keras with the TensorFlow backend: layers and models with weights create them.
KERAS_STARTS = re.compile(
    r"keras\.(metrics\.(Mean|Sum|\w*Accuracy)|applications\.(\w+\.)?[A-Z]\w+|models\.load_model|(utils|preprocessing)\.\w+_dataset_from_directory)"
)
# Calls that definitely use the GPU; reading and decoding files and images do not.
COMPUTES = re.compile(
    rf"{STARTS.pattern}|{KERAS_STARTS.pattern}"
    r"|tensorflow\.(GradientTape|nn\.\w+)|keras\.(Sequential|Model|layers\.\w+|models\.clone_model)"
)
GRAPHS = ("disable_eager_execution", "disable_v2_behavior")  # afterwards operations are only added to a graph
RAISES = re.compile(r"^(assert_?)?raises(_?regex)?$", re.IGNORECASE)
LISTS = ("tensorflow.config.list_physical_devices", "tensorflow.config.list_logical_devices")


def first_start(script: Script, place: Place) -> Call | None:
    """Return the first call that definitely initializes TensorFlow's devices before a place is reached.

    Calls that only build a separate graph do not initialize them.
    """
    if any(name.endswith(GRAPHS) for name in script.names):
        return None
    tensorflow = all(constant(setting.value) == "tensorflow" for setting in script.settings if setting.name == "KERAS_BACKEND")
    for call in script.calls:
        in_graph = any(isinstance(context, Call) and context.method == "as_default" for context in call.place.contexts)
        named = STARTS.fullmatch(call.name) or PLACES.fullmatch(call.name)
        if before(call.place, place) and (named or (tensorflow and _has_weights(script, call))) and not in_graph:
            return call
    return None


def _has_weights(script: Script, call: Call) -> bool:
    """Whether a model definitely has weights after a call: it is trained, loaded or built, or its input has a shape."""
    model = call.receiver if call.method in ("add", "build", "fit") else call
    if not is_call(model, "keras.Sequential", "keras.Model"):
        return bool(KERAS_STARTS.fullmatch(call.name))
    return call.method == "fit" or builds(script, model, call)


def compares_gpu_count(script: Script) -> bool:
    """Whether the script compares the number of GPUs with one or two."""
    for test in script.tests:
        numbers = [node.value for node in ast.walk(test.node) if isinstance(node, ast.Constant)]
        counts = [part.args[0] for part in parts(test.value) if is_call(part, "builtins.len") and part.args]
        if (1 in numbers or 2 in numbers) and any(all_calls(options(count), *LISTS) for count in counts):
            return True
    return False


def described(script: Script, start: Call) -> str:
    """Return the name and position of a call that initializes devices, for messages."""
    name = start.name.replace("tensorflow.", "tf.") or f"{start.method}()"
    return f"{name} in {script.where(start.node)}"


def expected_to_fail(place: Place, *errors: str) -> bool:
    """Whether a try catches one of these errors, or a test expects an exception: ``with pytest.raises(RuntimeError):``."""
    calls = [option for context in place.contexts for option in options(context) if isinstance(option, Call)]
    expected = any(RAISES.search(call.name.rpartition(".")[2] or call.method) for call in calls)
    return expected or (bool(errors) and place.catches(*errors))


def listed_device(value: Value | None, lists: tuple[str, ...] = LISTS) -> Element | None:
    """Return the element of TensorFlow's device list that a value is known to be; None otherwise."""
    choices = list(options(value))
    if len(choices) == 1 and isinstance(choices[0], Element) and all_calls(options(choices[0].of), *lists):
        return choices[0]
    return None
