import multiprocessing as mp
import tensorflow as tf
def train(i):
  m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
  m.fit(i)
if __name__=="__main__":
  tf.zeros(3)
  ps=[mp.Process(target=train, args=(i,)) for i in range(2)]  # finding
  [q.start() for q in ps]
