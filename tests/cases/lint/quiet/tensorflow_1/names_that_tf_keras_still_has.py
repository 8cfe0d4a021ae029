import keras
import tensorflow as tf
from keras.preprocessing.image import img_to_array, load_img
from keras.utils import Sequence, pad_sequences
from keras.wrappers import SKLearnClassifier
from tensorflow.keras.preprocessing import image
from tensorflow.keras.preprocessing.image import ImageDataGenerator
from tensorflow.keras.preprocessing.text import Tokenizer
from tensorflow.python.keras.layers import core

flow = image.ImageDataGenerator()
text = tf.keras.preprocessing.text.Tokenizer()
