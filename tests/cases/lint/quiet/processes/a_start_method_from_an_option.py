"""The option may select spawn."""
import multiprocessing
import sys
import tensorflow as tf
def work():
    print(tf.reduce_sum(tf.ones(3)))
multiprocessing.set_start_method(sys.argv[1])
print(tf.config.list_logical_devices("GPU"))
multiprocessing.Process(target=work).start()
