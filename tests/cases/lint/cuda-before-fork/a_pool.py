from multiprocessing import Pool
import tensorflow as tf
def work(i): return tf.constant(i)
def main():
    tf.distribute.MirroredStrategy()
    with Pool(4) as pool:  # finding
        pool.map(work, range(4))
main()
