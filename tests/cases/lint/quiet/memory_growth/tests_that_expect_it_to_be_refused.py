import pytest
import tensorflow as tf
def test_growth_is_refused_late():
    tf.constant(1)
    with pytest.raises(RuntimeError):
        tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)
class Growth(tf.test.TestCase):
    def test_late(self):
        tf.constant(1)
        gpus = tf.config.list_physical_devices("GPU")
        with self.assertRaisesRegex(RuntimeError, "initialized"):
            tf.config.experimental.set_memory_growth(gpus[0], True)
