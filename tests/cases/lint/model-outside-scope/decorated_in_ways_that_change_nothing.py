import functools, time
import tensorflow as tf
def timed(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        start = time.time()
        result = fn(*args, **kwargs)
        print(time.time() - start)
        return result
    return wrapper
@timed
@functools.lru_cache(None)
def build(n):
    return tf.keras.Sequential([tf.keras.layers.Dense(n)])  # finding
@timed
def compile_model(model, strategy):
    with strategy.scope():
        model.compile("adam", "mse")
strategy = tf.distribute.MirroredStrategy()
compile_model(build(3), strategy=strategy)
