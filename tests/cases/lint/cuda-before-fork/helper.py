import multiprocessing
import tensorflow as tf
def build(): return tf.keras.Sequential([tf.keras.layers.Dense(1)])
def f(): build().fit(1)
tf.distribute.MirroredStrategy()
multiprocessing.Process(target=f).start()  # finding
