import pytest
import tensorflow as tf
with pytest.raises(ValueError):
    tf.zeros(-1)
tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("CPU")[0], True)  # finding
