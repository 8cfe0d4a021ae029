"""The script uses gpu.memory_limit, an attribute that TensorFlow's devices don't have.

Symptom:
    AttributeError: 'PhysicalDevice' object has no attribute 'memory_limit'
Cause:
    tf.config.list_physical_devices returns plain tuples of name and type. The limit belongs to a logical device, which must
    be configured before TensorFlow initializes the GPU.
Fix:
    1. To limit the memory:
       tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    2. To read the memory in use: tf.config.experimental.get_memory_info("GPU:0")
    3. To read a GPU's total memory, which TensorFlow does not report
       ? nvidia-smi --query-gpu=index,memory.total --format=csv
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

from gpucheck.commands.lint.devices import LISTS, expected_to_fail, listed_device
from gpucheck.commands.lint.lookup import all_calls, constant, options
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Attribute, Operation, Read, Store, Value
from gpucheck.core.compat.removed import MEMORY_LIMIT

SET = "Use tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=...)])."
READ = "TensorFlow does not report a GPU's total memory: run nvidia-smi --query-gpu=index,memory.total --format=csv"


@rule(words=(MEMORY_LIMIT,))
def check(script: Script) -> Findings:
    """Report memory_limit if it is read or set on an element of TensorFlow's list of devices."""
    checks = script.calls_named("builtins.hasattr", "builtins.getattr")
    if any(constant(call.argument("name", 1)) == MEMORY_LIMIT for call in checks):
        return
    used: list[tuple[Store | Read, Value, str]] = []
    used += [(store, store.of, SET) for store in script.stores if constant(store.key) == MEMORY_LIMIT]
    attributes = [(read, read.value) for read in script.reads if isinstance(read.value, Attribute)]
    used += [(read, attribute.of, READ) for read, attribute in attributes if attribute.name == MEMORY_LIMIT]
    for event, device, instead in used:
        if _device(device) and not expected_to_fail(event.place, "AttributeError"):
            yield at(event.node, "A device from TensorFlow's list has no memory_limit.", instead)


def _device(value: Value) -> bool:
    if isinstance(value, Operation) and len(value.parts) == 2:  # gpus[i]
        return all_calls(options(value.parts[0]), *LISTS)
    return listed_device(value) is not None
