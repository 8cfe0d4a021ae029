import pytest
import tensorflow as tf
def test_gone():
    with pytest.raises(AttributeError):
        tf.Session()
