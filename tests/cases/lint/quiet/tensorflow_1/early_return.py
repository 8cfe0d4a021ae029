import tensorflow as tf
def run():
    if tf.__version__.startswith("2"):
        return eager()
    with tf.Session() as s:
        s.run(x)
run()
