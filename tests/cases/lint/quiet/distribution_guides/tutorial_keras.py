import tensorflow as tf, tensorflow_datasets as tfds
datasets, info = tfds.load(name="mnist", with_info=True, as_supervised=True)
strategy = tf.distribute.MirroredStrategy()
BATCH_SIZE_PER_REPLICA = 64
BATCH_SIZE = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync
train_dataset = datasets["train"].map(scale).cache().shuffle(10000).batch(BATCH_SIZE)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    model.compile(optimizer=tf.keras.optimizers.Adam(0.001), metrics=["accuracy"])
model.fit(train_dataset, epochs=12)
unreplicated_model = tf.keras.models.load_model("saved.keras")
unreplicated_model.compile(optimizer=tf.keras.optimizers.Adam())
with strategy.scope():
    replicated_model = tf.keras.models.load_model("saved.keras")
    replicated_model.compile(optimizer=tf.keras.optimizers.Adam())
