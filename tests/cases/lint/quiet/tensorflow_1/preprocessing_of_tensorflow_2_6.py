# pip install tensorflow==2.6
import tensorflow as tf
from tensorflow.keras.layers.experimental import preprocessing

scaling = preprocessing.Rescaling(1 / 255)
