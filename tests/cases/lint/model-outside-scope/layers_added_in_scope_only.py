import tensorflow as tf
s=tf.distribute.MirroredStrategy()
m=tf.keras.applications.VGG16()  # finding
with s.scope():
  m.compile("adam")
  m.fit(x)
