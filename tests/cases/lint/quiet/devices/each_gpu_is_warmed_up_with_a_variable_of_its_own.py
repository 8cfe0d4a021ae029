import time
import tensorflow as tf
for i, _ in enumerate(tf.config.list_physical_devices("GPU")):
    with tf.device(f"/GPU:{i}"):
        w = tf.Variable(tf.random.normal([4096, 4096]))
        t0 = time.time()
        for _ in range(100):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.matmul(w, w))
            w.assign_sub(1e-9 * tape.gradient(loss, w))
        print(i, time.time() - t0)
