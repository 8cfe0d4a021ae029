import multiprocessing
import tensorflow as tf
def work(i):
    return tf.reduce_sum(tf.ones(i))
if __name__ == "__main__":
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Dense(8, input_dim=4))
    multiprocessing.Process(target=work, args=(3,)).start()  # finding
