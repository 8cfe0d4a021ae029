import tensorflow_datasets as tfds
import tensorflow as tf
r=tf.distribute.cluster_resolver.TPUClusterResolver.connect()
s=tf.distribute.TPUStrategy(r)
with s.scope():
  m=tf.keras.Sequential([])
  m.compile("adam","mse")
m.fit(tfds.load("mnist", split="train", as_supervised=True).batch(128))  # finding
