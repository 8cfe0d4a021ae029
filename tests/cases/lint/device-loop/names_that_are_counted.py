import tensorflow as tf
GPUS = ("/device:GPU:0", "/device:GPU:1")
def step(batches):
    for i, gpu in enumerate(GPUS):
        with tf.device(gpu), tf.GradientTape() as tape:  # finding
            loss = loss_fn(model(batches[i]))
        yield tape.gradient(loss, model.trainable_variables)
