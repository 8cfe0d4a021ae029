from multiprocessing import Pool
import tensorflow as tf
from tensorflow.keras.preprocessing.image import load_img, img_to_array
def load(name):
    return img_to_array(load_img(name))
m = tf.keras.applications.ResNet50()
with Pool(4) as p:
    x = p.map(load, ["a", "b"])
