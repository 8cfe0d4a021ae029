from keras.layers.core import Dense  # finding
from keras.layers.normalization import BatchNormalization  # finding
import tf_keras.layers.core

try:
    from keras.utils import np_utils
    import keras.utils.np_utils
except ImportError:
    import keras.utils as np_utils
