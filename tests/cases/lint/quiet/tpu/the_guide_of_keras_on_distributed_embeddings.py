import os
import libtpu
os.environ["PJRT_DEVICE"] = "TPU"
import tensorflow as tf
os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import keras_rs
import tensorflow_datasets as tfds
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
assignment = tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=8)
strategy = tf.distribute.TPUStrategy(resolver, experimental_device_assignment=assignment)
PER_REPLICA_BATCH_SIZE = 256
BATCH_SIZE = PER_REPLICA_BATCH_SIZE * strategy.num_replicas_in_sync
ratings = tfds.load("movielens/100k-ratings", split="train").map(preprocess).shuffle(100_000)
train = ratings.take(80_000).batch(BATCH_SIZE, drop_remainder=True).cache()
class EmbeddingModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.ratings = keras.Sequential([keras.layers.Dense(1)])
with strategy.scope():
    model = EmbeddingModel()
    model.compile(loss=keras.losses.MeanSquaredError(), optimizer="adagrad")
with strategy.scope():
    model.fit(train, epochs=5)
