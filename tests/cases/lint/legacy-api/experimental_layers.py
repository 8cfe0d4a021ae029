import tensorflow.keras.layers.experimental.preprocessing  # finding
from tensorflow.keras.wrappers.scikit_learn import KerasClassifier  # finding
