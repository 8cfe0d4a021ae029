"""Runs with TensorFlow 2.12: pip install "tensorflow==2.12" """

from tensorflow.keras.optimizers import Adam

optimizer = Adam(lr=0.001)
