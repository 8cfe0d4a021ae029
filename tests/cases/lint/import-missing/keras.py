def build_model():
    inputs = keras.Input(shape=(32, 32, 3))  # finding
    return keras.Model(inputs, keras.layers.Dense(10)(inputs))
