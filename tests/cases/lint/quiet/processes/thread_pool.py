from multiprocessing.pool import ThreadPool
from multiprocessing.dummy import Pool, Process
import tensorflow as tf
def work(i): return tf.constant(i)
tf.zeros(3)
ThreadPool(3).map(work, [1]); Pool(3).map(work, [1]); Process(target=work).start()
