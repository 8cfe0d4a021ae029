import tensorflow as tf

dataset = tf.data.Dataset.from_tensor_slices((a, b)).batch(64)
for step, (x, y) in enumerate(dataset):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    total += float(loss)  # finding
