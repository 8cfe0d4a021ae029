from multiprocessing import Pool
import tensorflow as tf
def write(name):
    with tf.io.TFRecordWriter(name) as w:
        w.write(tf.train.Example().SerializeToString())
x = tf.constant(3)
with Pool(4) as p:
    p.map(write, ["a", "b"])
