import tensorflow as tf
from helpers import start
r = tf.distribute.cluster_resolver.TPUClusterResolver()
start(r)
s = tf.distribute.TPUStrategy(r)
