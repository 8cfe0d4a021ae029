import tensorflow as tf
s=tf.distribute.MirroredStrategy()
BATCH_PER_GPU=32
with s.scope():
  m=tf.keras.Sequential([]); m.compile("adam","mse")
m.fit(x,y,batch_size=BATCH_PER_GPU)  # finding
