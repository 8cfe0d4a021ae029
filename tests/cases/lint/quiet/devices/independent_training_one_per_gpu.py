import tensorflow as tf
for i, config in enumerate(configs):
    with tf.device(f"/gpu:{i}"):
        model = tf.keras.Sequential([tf.keras.layers.Dense(config)])
        opt = tf.keras.optimizers.Adam()
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = f(model(x), y)
            opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
