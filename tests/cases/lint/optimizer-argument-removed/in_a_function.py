from keras import optimizers


def compiled(model, rate):
    model.compile(loss="mse", optimizer=optimizers.Nadam(clipnorm=1.0, lr=rate))  # finding
    return model
