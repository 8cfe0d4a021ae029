import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.applications.MobileNetV2()
    optimizer = tf.keras.optimizers.Adam()
def train_step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(batch) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
def train():
    for batch in strategy.experimental_distribute_dataset(dataset):
        strategy.run(train_step, args=(batch,))
train()
model = tf.keras.applications.MobileNetV2()
model.load_weights("trained.weights.h5")
