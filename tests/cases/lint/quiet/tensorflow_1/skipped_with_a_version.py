import pytest
import tensorflow as tf

pytestmark = pytest.mark.skipif(tf.__version__ >= "2", reason="TensorFlow 1")


def test_a_graph():
    x = tf.placeholder(tf.float32)
