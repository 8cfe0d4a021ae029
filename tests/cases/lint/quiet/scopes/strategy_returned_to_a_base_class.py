import tensorflow as tf
from lib import Base
class T(Base):
    def __init__(self):
        self.strategy = tf.distribute.MirroredStrategy()
        self.model = self.build()
    def build(self):
        m = tf.keras.Sequential([]); m.compile("adam", "mse"); return m
    def go(self):
        self.model.fit(x)
T().go()
