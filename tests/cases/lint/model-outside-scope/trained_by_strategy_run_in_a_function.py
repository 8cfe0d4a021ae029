import keras
import tensorflow as tf
def main():
    strategy = tf.distribute.MirroredStrategy()
    model = keras.applications.ResNet50()  # finding
    with strategy.scope():
        optimizer = keras.optimizers.Adam()
    def train_step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch) ** 2)
        gradients = tape.gradient(loss, model.trainable_weights)
        optimizer.apply_gradients(zip(gradients, model.trainable_weights))
    for batch in strategy.experimental_distribute_dataset(dataset):
        strategy.run(train_step, args=(batch,))
main()
