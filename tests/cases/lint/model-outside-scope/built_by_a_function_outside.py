from tensorflow.distribute import MirroredStrategy
from tensorflow.keras import Model, layers
def make():
    inputs = layers.Input((4,))
    return Model(inputs, layers.Dense(1)(inputs))  # finding
def main():
    strategy = MirroredStrategy()
    print(strategy)
    model = make()
    model.compile("adam", "mse")
    model.fit(x, y)
main()
