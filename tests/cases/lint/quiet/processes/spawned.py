import multiprocessing as mp
import tensorflow as tf
def work(): tf.zeros(3)
if __name__ == "__main__":
    tf.constant(1)
    context = mp.get_context("spawn")
    context.Process(target=work).start()
