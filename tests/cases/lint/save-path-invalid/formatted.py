from keras import Model, callbacks


class Net(Model):
    def call(self, x):
        return x


net = Net()
net.save(f"{folder}/epoch-{number}.pth")  # finding
net.save_weights(folder + "/last_weights.h5")  # finding
saver = callbacks.ModelCheckpoint(f"{folder}/cp", save_weights_only=True)  # finding
