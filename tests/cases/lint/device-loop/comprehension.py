import tensorflow as tf
def step(i):
  with tf.device(f"/gpu:{i}"):  # finding
    with tf.GradientTape() as t: pass
[step(i) for i in range(4)]
