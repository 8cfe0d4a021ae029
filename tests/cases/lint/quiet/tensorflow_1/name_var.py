import tensorflow as tf
for i in range(2):
  dev=f"/gpu:{i}"
  with tf.device(dev):
    grads=opt.compute_gradients(l)
