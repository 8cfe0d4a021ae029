import tensorflow as tf
for name in ["GPU:0"]:
    with tf.device(name):
        with tf.GradientTape() as tape:
            loss = loss_fn(model(next(batches)))
        towers.append(tape.gradient(loss, model.trainable_variables))
