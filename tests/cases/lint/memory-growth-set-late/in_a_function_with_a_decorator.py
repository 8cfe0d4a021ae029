import functools
import tensorflow as tf
def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        print(fn)
        return fn(*args, **kwargs)
    return wrapper
@logged
def setup(gpus):
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)  # finding
@logged
def main():
    strategy = tf.distribute.MirroredStrategy()
    setup(gpus=tf.config.list_physical_devices("GPU"))
main()
