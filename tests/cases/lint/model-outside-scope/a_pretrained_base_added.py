import tensorflow as tf
from tensorflow.keras.applications import EfficientNetB0
from tensorflow.keras.models import Sequential
def main():
    base = EfficientNetB0(include_top=False, pooling="avg")  # finding
    base.trainable = True
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = Sequential()
        model.add(base)
        model.add(tf.keras.layers.Dense(1))
        model.compile("adam", "mse")
    model.fit(x, y)
main()
