import tensorflow as tf

dataset = tf.data.Dataset.from_tensor_slices((a, b)).batch(64)
for epoch in range(3):
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        mean(loss)
    print(mean.result().numpy())
