from concurrent.futures import ProcessPoolExecutor
import tensorflow as tf
def f(x): return tf.matmul(x,x)
tf.ones(3)
with ProcessPoolExecutor() as e:  # finding
  e.map(f, [1])
