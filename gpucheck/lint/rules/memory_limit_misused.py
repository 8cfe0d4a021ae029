"""The script uses gpu.memory_limit, an attribute that TensorFlow's devices don't have.

Symptom:
    AttributeError: 'PhysicalDevice' object has no attribute 'memory_limit'
    AttributeError: can't set attribute
Cause:
    tf.config.list_physical_devices returns plain tuples of name and type. The limit belongs to a logical device, which is
    configured before TensorFlow starts the GPU.
Fix:
    1. tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    2. To read how much is used: tf.config.experimental.get_memory_info("GPU:0")
Verify:
    TensorFlow's log says: Created device ... with 4096 MB memory
Unless:
    Never.
Example:
    bad:
        import tensorflow as tf
        for gpu in tf.config.list_physical_devices("GPU"):
            gpu.memory_limit = 4096
    good:
        import tensorflow as tf
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
References:
    https://www.tensorflow.org/api_docs/python/tf/config/LogicalDeviceConfiguration
"""

from collections.abc import Iterator

from gpucheck.lint.devices import listed
from gpucheck.lint.script import Finding, Script, at
from gpucheck.lint.values import Attribute, constant
from gpucheck.model import Severity

SEVERITY = Severity.ERROR
WORDS = ("memory_limit",)
CAUGHT = {"", "AttributeError", "Exception", "BaseException"}
NAME = "memory_limit"


def check(script: Script) -> Iterator[Finding]:
    """Read or set on an element of TensorFlow's own list of devices."""
    used = [(store.node, store.place) for store in script.stores if constant(store.key) == NAME and listed(store.of)]
    used += [
        (read.node, read.place)
        for read in script.reads
        if isinstance(read.value, Attribute) and read.value.name == NAME and listed(read.value.of)
    ]
    for node, place in used:
        if not CAUGHT & set(place.guards):
            yield at(
                node,
                "A device from TensorFlow's list has no memory_limit.",
                "Use tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=...)]).",
            )
