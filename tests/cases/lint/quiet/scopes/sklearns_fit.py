import tensorflow as tf
from sklearn.linear_model import LogisticRegression
strategy = tf.distribute.MirroredStrategy()
model = LogisticRegression()
model.fit(x, y)
