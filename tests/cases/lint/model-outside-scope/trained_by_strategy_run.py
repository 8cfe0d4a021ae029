import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])  # finding
optimizer = tf.keras.optimizers.Adam()
def train_step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(batch) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
@tf.function
def distributed(batch):
    return strategy.run(train_step, args=(batch,))
for batch in strategy.experimental_distribute_dataset(dataset):
    distributed(batch)
