import tensorflow as tf
generator, critic = tf.keras.Sequential([]), tf.keras.Sequential([])
for name, model in zip(["/gpu:0", "/gpu:1"], [generator, critic]):
    with tf.device(name):
        with tf.GradientTape() as tape:
            loss = loss_fn(model(x))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
for name, model in zip(["/gpu:0", "/gpu:1"], ensemble):
    with tf.device(name):
        with tf.GradientTape() as tape:
            loss = loss_fn(model(x))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
