import keras

mean = keras.metrics.Mean()
try:
    mean.reset_state()
except AttributeError:
    mean.reset_states()
