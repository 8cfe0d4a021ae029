import sys
from gpucheck.core.training.experiments import tensor_float_32

enabled = tf.config.experimental.tensor_float_32_execution_enabled
seen = []

def note(frame, event, argument):
    """Note the setting at the start of each timing: nothing in the program is replaced."""
    if event == "call" and frame.f_code.co_name == "step_seconds":
        seen.append(enabled())

tf.config.experimental.enable_tensor_float_32_execution(False)
sys.setprofile(note)
losses, seconds = tensor_float_32.measure(setting, "CPU:0", 8)
sys.setprofile(None)
found.update(losses=[losses[True], losses[False]], seconds=[seconds[True], seconds[False]], seen=seen, after=enabled())
