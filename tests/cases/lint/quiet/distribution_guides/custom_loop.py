import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
global_batch_size = 16
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD()
dist = strategy.experimental_distribute_dataset(tf.data.Dataset.range(100).batch(global_batch_size))
def train_step(inputs):
    with tf.GradientTape() as tape:
        loss = tf.nn.compute_average_loss(model(inputs), global_batch_size=global_batch_size)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
@tf.function
def distributed_train_step(inputs):
    losses = strategy.run(train_step, args=(inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
for inputs in dist:
    print(distributed_train_step(inputs))
