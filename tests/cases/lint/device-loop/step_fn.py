import tensorflow as tf
def step(b):
  with tf.GradientTape() as t:
    l=m(b)
  return t.gradient(l, v)
for i in range(2):
  with tf.device(f"/gpu:{i}"):  # finding
    g.append(step(b[i]))
