import tensorflow as tf
for batch in data:
    with tf.device("/gpu:0"):
        with tf.GradientTape() as tape:
            loss = f(batch)
