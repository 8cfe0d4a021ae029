import tensorflow as tf
for epoch in range(3):
    for batch in data:
        with tf.device(batch.device):
            with tf.GradientTape() as t: pass
