import tensorflow as tf
tf.compat.v1.disable_eager_execution()
config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
model = tf.keras.Sequential([])
model.fit(x)
