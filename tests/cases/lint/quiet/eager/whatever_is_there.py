import keras

model = keras.Sequential([keras.layers.Dense(1)])
try:
    model.fit_generator(batches)
except AttributeError:
    model.fit(batches)
