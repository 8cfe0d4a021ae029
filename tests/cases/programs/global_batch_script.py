from keras.src.losses import loss as losses
from gpucheck.core.training.experiments import global_batch

tf.config.experimental.enable_tensor_float_32_execution(True)
found["correct"] = global_batch.run(setting)
found["tf32"] = tf.config.experimental.tensor_float_32_execution_enabled()

losses.unscale_loss_for_distribution = lambda value: value
found["unscaled"] = global_batch.run(setting).problem
try:
    global_batch.run(Setting(tf, keras, {"CPU:0": "CPU:0"}, []))
except NotHere as reason:
    found["alone"] = str(reason)
