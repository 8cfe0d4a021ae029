import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
config = tf.ConfigProto(device_count={"GPU": 0})
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
