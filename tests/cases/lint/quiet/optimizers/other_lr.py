"""PyTorch's optimizers, a class of the file and a callback have an argument lr."""

import keras
import torch


class Adam(keras.optimizers.Adam):
    def __init__(self, lr):
        super().__init__(learning_rate=lr)


def schedule(epoch, lr):
    return lr * 0.9


own = Adam(lr=0.001)
other = torch.optim.Adam(torch.nn.Linear(1, 1).parameters(), lr=0.001)
callback = keras.callbacks.LearningRateScheduler(schedule)
try:
    optimizer = keras.optimizers.Adam(lr=0.001)
except ValueError:
    optimizer = keras.optimizers.Adam(learning_rate=0.001)
