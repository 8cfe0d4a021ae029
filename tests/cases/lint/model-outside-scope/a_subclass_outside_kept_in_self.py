import keras, tensorflow as tf
class Net(keras.Model): pass
class Trainer:
    def __init__(self):
        self.strategy = tf.distribute.MirroredStrategy()
        self.model = Net()  # finding
    def train(self, data):
        self.model.compile("adam", "mse")
        self.model.fit(data)
Trainer().train(load())
