import keras
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
path = "/shared/model.keras" if strategy.cluster_resolver.task_id == 0 else "/tmp/model.keras"
model.save(path)
