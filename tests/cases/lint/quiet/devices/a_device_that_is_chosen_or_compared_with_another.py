import tensorflow as tf
device = "/gpu:1" if second else "/gpu:0"
with tf.device(device):
    with tf.GradientTape() as tape:
        loss = loss_fn(model(x))
for name in ["/cpu:0", "/gpu:0"]:
    with tf.device(name):
        with tf.GradientTape() as tape:
            loss = loss_fn(model(x))
for name in ["/gpu:0"]:
    with tf.device(name):
        with tf.GradientTape() as tape:
            loss = loss_fn(model(x))
