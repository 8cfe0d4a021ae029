import keras
import tensorflow as tf


def main():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        for epoch in range(3):
            model.save_weights("model.weights.h5")  # finding


main()
