import tensorflow as tf
def build():
  i=tf.keras.Input((3,))
  return tf.keras.Model(i, tf.keras.layers.Dense(1)(i))  # finding
def main():
  s=tf.distribute.MirroredStrategy()
  m=build()
  with s.scope():
    m.compile("adam","mse")
  m.fit(x)
if __name__=="__main__": main()
