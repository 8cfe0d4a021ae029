import os
import six
from keras import backend as K
def set_backend(b):
    os.environ["KERAS_BACKEND"] = b
    six.moves.reload_module(K)
