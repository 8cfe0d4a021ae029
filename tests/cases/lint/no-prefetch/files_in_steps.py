from tensorflow import data, keras
d = data.Dataset.list_files("*.png")
d = d.shuffle(100)
d = d.map(load, num_parallel_calls=data.AUTOTUNE)
d = d.batch(32)  # finding
model = keras.applications.ResNet50()
model.compile("adam", "mse")
model.fit(d, epochs=5)
