import tensorflow as tf
from tensorflow.keras import Input, Model
from tensorflow.keras.layers import Dense, Flatten
inputs = Input((28, 28))
x = Flatten()(inputs)
x = Dense(10)(x)  # finding
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = Model(inputs, x)
    model.compile("adam", "mse")
model.fit(x_train, y_train)
