import horovod.tensorflow.keras as hvd
import keras

hvd.init()  # finding
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y)
