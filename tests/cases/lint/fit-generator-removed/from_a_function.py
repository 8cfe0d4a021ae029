from tensorflow import keras


def make():
    return keras.models.Sequential([keras.layers.Dense(1)])


net = make()
net.fit_generator(generator=batches, epochs=3)  # finding
