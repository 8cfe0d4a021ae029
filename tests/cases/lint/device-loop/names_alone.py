import tensorflow as tf
for name in ["GPU:0", "GPU:1", "GPU:2"]:
    with tf.device(name):  # finding
        with tf.GradientTape() as tape:
            loss = loss_fn(model(next(batches)))
        towers.append(tape.gradient(loss, model.trainable_variables))
