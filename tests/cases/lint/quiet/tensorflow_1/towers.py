import tensorflow as tf
for i, gpu in enumerate(gpus):
  with tf.device('/gpu:%d' % i):
    grads.append(optimizer.compute_gradients(loss))
