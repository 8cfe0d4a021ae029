import keras
from tensorflow import data as tf_data
train = tf_data.Dataset.from_tensor_slices((x_train, y_train)).batch(16).map(lambda x, y: (augment(x), y))
model = keras.Sequential([keras.layers.Dense(10)])
model.compile(optimizer="rmsprop", loss="mse")
model.fit(train, steps_per_epoch=5)
