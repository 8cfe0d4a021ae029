import tensorflow as tf
generator = tf.keras.Sequential([tf.keras.layers.Dense(1)])
generator_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
train_dataset = tf.data.Dataset.list_files("train/*.jpg")
train_dataset = train_dataset.map(load_image_train, num_parallel_calls=tf.data.AUTOTUNE)
train_dataset = train_dataset.shuffle(400).batch(1)
@tf.function
def train_step(input_image, target, step):
    with tf.GradientTape() as gen_tape:
        loss = loss_fn(generator(input_image, training=True), target)
    gradients = gen_tape.gradient(loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
for step, (input_image, target) in train_dataset.repeat().take(1000).enumerate():
    train_step(input_image, target, step)
