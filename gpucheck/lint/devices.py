"""What several rules ask about GPUs: which calls start TensorFlow's devices, which lists hold them."""

import re
from collections.abc import Iterator

from gpucheck.lint.script import Script
from gpucheck.lint.values import Call, Element, Place, Value, before, options

# Calls that certainly run an operation, or ask for logical devices: TensorFlow starts every visible GPU for them.
STARTS = re.compile(
    r"tensorflow\.(constant|Variable|zeros|ones|zeros_like|ones_like|eye|fill|range|linspace|convert_to_tensor|matmul|add|multiply"
    r"|reduce_(sum|mean|max|min)|random\.(normal|uniform|truncated_normal|shuffle|categorical)|linalg\.matmul|math\.\w+"
    r"|config\.list_logical_devices|distribute\.(MirroredStrategy|MultiWorkerMirroredStrategy|CentralStorageStrategy)"
    r"|data\.Dataset\.(from_tensors|from_tensor_slices|range))"
    r"|keras\.applications\.(\w+\.)?[A-Z]\w+"
)
LISTS = ("tensorflow.config.list_physical_devices", "tensorflow.config.list_logical_devices")


def starts(script: Script) -> Iterator[Call]:
    """Calls that certainly start TensorFlow's devices where they stand; what is built into a graph of its own does not."""
    for call in script.calls:
        if (STARTS.fullmatch(call.name) or (call.method == "fit" and _keras(call.receiver))) and not any(
            isinstance(context, Call) and context.method == "as_default" for context in call.place.contexts
        ):
            yield call


def _keras(value: Value) -> bool:
    return isinstance(value, Call) and value.name in ("keras.Sequential", "keras.Model")


def started(script: Script, place: Place) -> Call | None:
    """The first call that has certainly started TensorFlow's devices before a place is reached."""
    return next((call for call in starts(script) if before(call.place, place)), None)


def listed(value: Value | None, lists: tuple[str, ...] = LISTS) -> Element | None:
    """The element of TensorFlow's list of devices that a value certainly is."""
    found = list(options(value))
    if len(found) == 1 and isinstance(found[0], Element):
        sources = list(options(found[0].of))
        if sources and all(isinstance(one, Call) and one.name in lists for one in sources):
            return found[0]
    return None
