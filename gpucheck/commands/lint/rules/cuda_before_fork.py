"""The script initializes TensorFlow's GPUs and then forks: the child can't use them, and may hang.

Symptom:
    CUDA_ERROR_NOT_INITIALIZED: initialization error
    F tensorflow/stream_executor/cuda/cuda_driver.cc: Failed setting context: CUDA_ERROR_NOT_INITIALIZED
    - A child process hangs without a message.
Cause:
    CUDA does not survive a fork, nor do TensorFlow's threads and locks. On Linux, multiprocessing forks by default before
    Python 3.14, so a child that uses TensorFlow inherits a driver context that does not work in it.
Fix:
    1. Spawn children: multiprocessing.set_start_method("spawn"), as the first statement under if __name__ == "__main__":
    2. Or start the children before anything uses TensorFlow.
Verify:
    The child computes on the GPU and exits.
Unless:
    The child never uses TensorFlow. Functions that definitely do not use it are not reported.
Example:
    bad:
        import multiprocessing
        import tensorflow as tf
        def work():
            print(tf.reduce_sum(tf.ones(3)))
        print(tf.config.list_logical_devices("GPU"))
        multiprocessing.Process(target=work).start()
    good:
        import multiprocessing
        import tensorflow as tf
        def work():
            print(tf.reduce_sum(tf.ones(3)))
        multiprocessing.set_start_method("spawn")
        print(tf.config.list_logical_devices("GPU"))
        multiprocessing.Process(target=work).start()
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/
    https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
"""

from collections.abc import Iterator

from gpucheck.commands.lint.devices import COMPUTES, described, first_start
from gpucheck.commands.lint.lookup import constant, is_call, options
from gpucheck.commands.lint.models import is_model
from gpucheck.commands.lint.script import Findings, Script, at, rule
from gpucheck.commands.lint.values import Call, Class, Name, Value, used_by

PROCESS = {"multiprocessing.Process", "multiprocessing.context.Process", "multiprocessing.process.Process"}
POOL = {"multiprocessing.Pool", "multiprocessing.pool.Pool", "concurrent.futures.ProcessPoolExecutor"}
FIX = 'Call multiprocessing.set_start_method("spawn") first, or start children before anything uses TensorFlow.'
POOL_METHODS = ("map", "imap", "imap_unordered", "starmap", "apply", "apply_async", "map_async", "starmap_async", "submit")


@rule(explains=("cuda-used-after-fork",), words=("fork", "multiprocessing", "ProcessPoolExecutor"))
def check(script: Script) -> Findings:
    """Report a fork that definitely follows the initialization of the devices, if its child uses TensorFlow."""
    if any(constant(call.argument("method", 0)) != "fork" for call in script.calls_named("multiprocessing.set_start_method")):
        return
    execs = any(name.startswith(("os.exec", "os.spawn")) for name in script.names)
    for call in script.calls:
        forks = (call.name == "os.fork" and not execs) or (_forks(call) and any(map(_uses_gpu, _targets(script, call))))
        start = first_start(script, call.place) if forks else None
        if start is not None:
            message = f"{described(script, start)} initializes TensorFlow before this fork: the child cannot use the GPU."
            yield at(call.node, message, FIX)


def _forks(call: Call) -> bool:
    if isinstance(call.function, Class):
        return call.function.descends(lambda base: base in PROCESS)
    if call.name in PROCESS | POOL:
        return "mp_context" not in call.keywords and "context" not in call.keywords and not call.starred
    chosen = call.receiver
    return (
        call.method in ("Process", "Pool")
        and is_call(chosen, "multiprocessing.get_context")
        and constant(chosen.argument("method", 0)) in ("fork", None)
        and not (chosen.args and constant(chosen.args[0]) is None)
    )


def _targets(script: Script, call: Call) -> Iterator[Value]:
    """Yield the functions that the children run."""
    if isinstance(call.function, Class):
        yield from options(call.function.member("run"))
    elif call.name in PROCESS or call.method == "Process":
        yield from options(call.argument("target", 1))
    else:
        yield from options(call.argument("initializer", 1))
        for other in script.methods(*POOL_METHODS):
            if any(option is call for option in options(other.receiver)) and other.args:
                yield from options(other.args[0])


def _uses_gpu(target: Value) -> bool:
    """Whether a function, or a function in this file that it uses, computes with TensorFlow or uses a model."""
    return any(  # a generator: following every call takes time that grows with each function
        is_model(value)
        or is_call(value, "keras.models.load_model")
        or (isinstance(value, Name) and COMPUTES.fullmatch(value.path) is not None)
        for value in used_by(target)
    )
