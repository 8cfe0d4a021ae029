from multiprocessing import Pool
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.build(input_shape=(None, 8))
def predict(batch):
    return model.predict(batch)
with Pool(4) as pool:  # finding
    pool.map(predict, batches)
