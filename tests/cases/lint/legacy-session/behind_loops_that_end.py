import tensorflow as tf
while waiting():
    wait()
while True:
    if done():
        break
s = tf.Session()  # finding
