import tensorflow as tf
s=tf.distribute.TPUStrategy(r)
b=tf.keras.applications.ResNet50()  # finding
with s.scope():
  b.compile("adam","mse")
b.fit(x)
