import tensorflow as tf
from horovod.common.util import is_version_greater_equal_than

if is_version_greater_equal_than(tf.__version__, "2.6.0"):
    from keras import backend
else:
    from tensorflow.python.keras import backend

print(backend.floatx())
