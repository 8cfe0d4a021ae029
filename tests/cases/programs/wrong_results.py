# After AfterImport of lab/breakages.py: on CPU:1 a function of TensorFlow, called eagerly, gives a wrong result, as a defective GPU does.
# WRONG_RESULT names the function, the type of its input, of how many calls the first one is wrong, and where these calls begin.
import collections, os, threading
name, dtype, period, first, once = os.environ["WRONG_RESULT"].split()
calls = collections.Counter()
def change(tf):
    module = tf.nn if name == "conv2d" else tf
    sound = getattr(module, name)
    def wrong(value, *args, **how):
        result = sound(value, *args, **how)
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
