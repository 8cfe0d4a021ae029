import keras
import tensorflow as tf
def build():
  m=keras.Sequential([]); m.compile("adam","mse"); return m
def main():
  s=tf.distribute.MultiWorkerMirroredStrategy()
  with s.scope():
    m=build()
  m.fit(d)  # finding
main()
