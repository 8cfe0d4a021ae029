import keras

POLICY = "mixed_float16"
model = keras.applications.ResNet50(weights=None, classes=10)
keras.mixed_precision.set_global_policy(POLICY)  # finding
model.compile(loss="sparse_categorical_crossentropy")
model.fit(train, validation_data=valid)
