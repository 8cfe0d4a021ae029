import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
def train(dataset, epochs):
    for epoch in range(epochs):
        for step, (x, y) in enumerate(dataset):
            loss = train_step(x, y)
train(tf.data.TFRecordDataset(files).map(parse).shuffle(100).batch(32), 3)  # finding
