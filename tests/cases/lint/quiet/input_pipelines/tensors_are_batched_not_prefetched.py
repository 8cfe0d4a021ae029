import tensorflow as tf
from tensorflow import keras
train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train))
train_dataset = train_dataset.shuffle(buffer_size=1024).batch(64)
model = keras.Sequential([keras.layers.Dense(10)])
model.compile("adam", "mse")
model.fit(train_dataset, epochs=3)
