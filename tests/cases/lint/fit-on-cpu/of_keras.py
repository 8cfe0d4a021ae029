import keras

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss="mse")
with keras.device("cpu:0"):
    model.fit(x, y)  # finding
