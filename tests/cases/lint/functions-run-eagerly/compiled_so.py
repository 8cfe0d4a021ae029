import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss="mse", run_eagerly=True)  # finding
model.fit(x, y)
