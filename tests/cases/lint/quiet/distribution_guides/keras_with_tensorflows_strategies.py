import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import tensorflow as tf
import keras
def get_compiled_model():
    inputs = keras.Input(shape=(784,))
    model = keras.Model(inputs, keras.layers.Dense(10)(inputs))
    model.compile(optimizer=keras.optimizers.Adam(), loss="mse")
    return model
def make_or_restore_model():
    checkpoints = os.listdir("ckpt")
    if checkpoints:
        return keras.models.load_model(max(checkpoints))
    return get_compiled_model()
def run_training(epochs=1):
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = make_or_restore_model()
        model.fit(train_dataset, epochs=epochs)
run_training(epochs=1)
run_training(epochs=1)
