import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = loss_fn(model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
for x in tf.data.TFRecordDataset(files).map(parse).batch(32).prefetch(1):
    train_step(x)
for x in tf.data.TFRecordDataset(files).map(parse).cache().batch(32):
    train_step(x)
for x in tf.data.Dataset.from_tensor_slices(images).map(scale).batch(32):
    train_step(x)
