import keras


class Net(keras.Model):
    def call(self, x):
        return x


Net().fit_generator(batches)  # finding
