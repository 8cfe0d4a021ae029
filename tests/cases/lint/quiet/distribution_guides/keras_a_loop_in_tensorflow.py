import keras, tensorflow as tf
model = keras.Sequential([keras.layers.Dense(10)])
optimizer = keras.optimizers.Adam(learning_rate=1e-3)
train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(32)
for step, (x, y) in enumerate(train_dataset):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
