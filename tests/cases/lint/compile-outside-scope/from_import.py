from tensorflow.keras.optimizers import Adam
from tensorflow.keras.models import Sequential
import tensorflow as tf
s=tf.distribute.MirroredStrategy()
with s.scope():
  m=Sequential()
m.compile(Adam(), "mse")  # finding
