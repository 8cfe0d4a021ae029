import multiprocessing as mp
import tensorflow as tf
def work(): tf.zeros(3)
process = mp.Process(target=work)
process.start()
tf.constant(1)
