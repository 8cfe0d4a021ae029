import tensorflow as tf
from mylib import Trainer
strategy = tf.distribute.MirroredStrategy()
model = tf.keras.Sequential([])
trainer = Trainer(model, strategy)
model.compile("adam", "mse")
model.fit(x)
