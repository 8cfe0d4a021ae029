import keras


def make():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(loss="mse", run_eagerly=True)  # finding
    return model


def main():
    make().fit(x, y)


main()
