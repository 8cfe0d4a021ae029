import tensorflow as tf
s=tf.distribute.MirroredStrategy()
batch_size_per_gpu=32
with s.scope():
  m=tf.keras.Sequential([]); m.compile("adam","mse")
m.fit(x,y,batch_size_per_gpu)  # finding
