import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
teacher = tf.keras.applications.ResNet50()
with strategy.scope():
    student = tf.keras.applications.MobileNetV2()
    optimizer = tf.keras.optimizers.Adam()
def train_step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((student(batch) - teacher(batch)) ** 2)
    gradients = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(gradients, student.trainable_variables))
for batch in strategy.experimental_distribute_dataset(dataset):
    strategy.run(train_step, args=(batch,))
