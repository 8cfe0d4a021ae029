import keras
train = keras.utils.image_dataset_from_directory("data", image_size=(180, 180), batch_size=32)
model = keras.Sequential([keras.layers.Rescaling(1 / 255)])
model.compile("adam", "mse")
model.fit(train, epochs=3)
