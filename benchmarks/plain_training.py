"""A user's script to test that TensorFlow trains: import, list the devices, train the same steps as the smoke job.

The baseline for all of ``gpucheck --allow-cpu``: no probes, no rules, no verification, no report.
"""

import tensorflow as tf

from gpucheck.core.training.smoke import network

cpu = tf.config.list_physical_devices("CPU")[0]
gpus = tf.config.list_physical_devices("GPU")
print(tf.config.list_physical_devices())
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
if not gpus:
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

import keras  # noqa: E402 - the order in a user's script

devices = [f"GPU:{index}" for index in range(len(gpus))] or ["CPU:0", "CPU:1"]
singles = devices if gpus else devices[:1]
strategies = [tf.distribute.OneDeviceStrategy("/" + device) for device in singles]
strategies.append(tf.distribute.MirroredStrategy(["/" + device for device in devices]))
for strategy in strategies:
    batch = network.PER_REPLICA_BATCH["GPU" if gpus else "CPU"] * strategy.num_replicas_in_sync
    with strategy.scope():
        model = network.model(keras, compiled=False)
    history = model.fit(network.dataset(tf, batch), steps_per_epoch=network.STEPS, epochs=1, verbose=0)
    print(type(strategy).__name__, history.history["loss"])


def gradient(inputs, weights):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_sum(tf.tanh(inputs @ weights) ** 2)
    return tape.gradient(loss, weights)


for device in singles:
    with tf.device("/" + device):
        print(tf.function(gradient, jit_compile=True)(tf.ones((8, 16)), tf.fill((16, 4), 0.01)).device)
