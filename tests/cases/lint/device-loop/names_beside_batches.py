import tensorflow as tf
grads = []
for device, (x, y) in zip(["/gpu:0", "/gpu:1"], batches):
    with tf.device(device):  # finding
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x))
        grads.append(tape.gradient(loss, model.trainable_variables))
