import tensorflow as tf
s=tf.distribute.MirroredStrategy()
print(s.num_replicas_in_sync)
m=tf.keras.Sequential([])  # finding
m.compile("adam","mse")
m.fit(x)
