import keras
import tensorflow
tensorflow.debugging.set_log_device_placement(True)  # finding
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss='mse')
model.fit(x, y, epochs=3)
