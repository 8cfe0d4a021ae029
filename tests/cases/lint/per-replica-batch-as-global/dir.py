import tensorflow as tf
s=tf.distribute.MirroredStrategy()
batch_size_per_replica=32
d=tf.keras.utils.image_dataset_from_directory("a", batch_size=batch_size_per_replica)  # finding
with s.scope():
  m=tf.keras.Sequential([]); m.compile("adam","mse")
m.fit(d)
