import multiprocessing
import tensorflow as tf
def work(n):
    print(tf.reduce_sum(tf.ones(n)))
def start():
    multiprocessing.Process(target=work, args=(3,)).start()
COMMANDS = {"start": start}
COMMANDS["start"]()
x = tf.zeros(3)
