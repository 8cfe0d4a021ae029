import keras
from keras.engine.topology import Layer  # finding
from keras.optimizers import adam  # finding
from keras.preprocessing import image
from keras.preprocessing.image import ImageDataGenerator, load_img  # finding
from keras.preprocessing.text import Tokenizer  # finding
from keras.utils import np_utils  # finding

words = Tokenizer(100)
y = np_utils.to_categorical(y)
y = keras.utils.np_utils.to_categorical(y)
step = keras.layers.convolutional.Conv2D(8, 3)  # finding
