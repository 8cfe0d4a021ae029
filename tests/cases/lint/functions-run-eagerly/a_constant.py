import keras

EAGER = True
model = keras.applications.ResNet50(weights=None)
model.compile(loss="mse", run_eagerly=EAGER)  # finding
model.fit(x, y)
