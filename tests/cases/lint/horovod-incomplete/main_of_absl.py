import horovod.tensorflow.keras as hvd
import keras
from absl import app


def main(argv):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=hvd.DistributedOptimizer(keras.optimizers.Adam()), loss="mse")  # finding
    model.fit(x, y)


if __name__ == "__main__":
    app.run(main)
