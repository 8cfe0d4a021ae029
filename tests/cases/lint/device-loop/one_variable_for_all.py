import tensorflow as tf
w = tf.Variable(tf.ones([3, 3]))
for i in range(4):
    with tf.device(f"/GPU:{i}"):  # finding
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * batches[i])
        w.assign_sub(tape.gradient(loss, w))
