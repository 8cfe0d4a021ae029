from gpucheck.core.training.experiments import tensor_float_32

enabled = tf.config.experimental.tensor_float_32_execution_enabled
seen = []
real = tensor_float_32.step_seconds
def spied(timed):
    seen.append(enabled())
    return real(timed)
tensor_float_32.step_seconds = spied
tf.config.experimental.enable_tensor_float_32_execution(False)
losses, seconds = tensor_float_32.measure(setting, "CPU:0", 8)
found.update(losses=[losses[True], losses[False]], seconds=[seconds[True], seconds[False]], seen=seen, after=enabled())
