from tensorflow.keras import layers, models
import tensorflow as tf

PATH = "gs://bucket/model"
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = models.Sequential([layers.Dense(1)])
model.export(PATH)  # finding
