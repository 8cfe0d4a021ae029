import keras
class Base(keras.Model):
    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        x = self.softmax(x)
        return x
class Net(Base):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(8), keras.layers.Dense(3)]
        self.softmax = keras.layers.Softmax()  # finding
def main():
    keras.mixed_precision.set_dtype_policy("mixed_bfloat16")
    model = Net()
    model.compile("adam", "sparse_categorical_crossentropy")
main()
