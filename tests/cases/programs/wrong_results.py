# Runs after AfterImport of lab/breakages.py: on CPU:1 an eagerly called TensorFlow function returns a wrong result, like a defective GPU.
# WRONG_RESULT is the function, its input type, every how many calls a result is wrong, the first of them, and "once" for only one.
import collections, os, threading
name, dtype, period, first, once = os.environ["WRONG_RESULT"].split()
calls = collections.Counter()
def change(tf):
    module = tf.nn if name == "conv2d" else tf
    original = getattr(module, name)
    def wrong(value, *args, **how):
        result = original(value, *args, **how)
        if not tf.executing_eagerly() or value.dtype.name != dtype or not result.device.endswith("CPU:1"):
            return result
        number = calls["here"] - int(first)
        calls["here"] += 1
        if number % int(period) or number < 0 or (once == "once" and number):
            return result
        off = tf.scatter_nd([[0] * result.shape.rank], tf.ones([1], result.dtype), result.shape)
        return result + off
    setattr(module, name, wrong)
sys.meta_path.insert(0, AfterImport("tensorflow", change))
