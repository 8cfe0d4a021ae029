# pip install tensorflow==2.12
import tensorflow as tf
from keras.optimizers import adam
from keras.preprocessing.image import ImageDataGenerator

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit(x, y, nb_epoch=2)
estimator = tf.estimator.DNNClassifier([8])
