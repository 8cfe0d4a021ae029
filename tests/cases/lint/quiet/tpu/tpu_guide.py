import tensorflow as tf, tensorflow_datasets as tfds
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
def get_dataset(batch_size, is_training=True):
    dataset, info = tfds.load(name="mnist", split="train", with_info=True, as_supervised=True)
    dataset = dataset.map(scale)
    if is_training:
        dataset = dataset.shuffle(10000)
        dataset = dataset.repeat()
    dataset = dataset.batch(batch_size)
    return dataset
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
    model.compile(optimizer="adam", loss="mse")
batch_size = 200
train_dataset = get_dataset(batch_size, is_training=True)
model.fit(train_dataset, epochs=5, steps_per_epoch=60000 // batch_size, validation_data=get_dataset(batch_size, False))
per_replica_batch_size = batch_size // strategy.num_replicas_in_sync
train = strategy.distribute_datasets_from_function(lambda _: get_dataset(per_replica_batch_size, is_training=True))
