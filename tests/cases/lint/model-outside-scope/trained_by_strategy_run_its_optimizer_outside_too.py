import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])  # finding
optimizer = tf.keras.optimizers.Adam()
@tf.function
def step(batch):
    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss
    return strategy.run(replica, args=(batch,))
for batch in strategy.experimental_distribute_dataset(dataset):
    step(batch)
