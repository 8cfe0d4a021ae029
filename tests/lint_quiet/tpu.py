"""TPUs whose batches are whole: TensorFlow's guide "Use TPUs" and those of Keras."""

PROGRAMS = {
    "TPU guide": """
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
    """,
    "TPU, a sharded batch that fits": """
        import tensorflow as tf
        strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(tf.data.Dataset.from_tensor_slices(x).repeat().batch(8), steps_per_epoch=3)
        model.fit(tf.data.Dataset.from_tensor_slices(x).batch(8, True))
        model.fit(numpy_array)
    """,
    "TPU, with steps or repeated": """
        import tensorflow as tf
        strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(tf.data.Dataset.from_tensor_slices(x).batch(8), steps_per_epoch=3)
        strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).repeat().batch(8))
    """,
    "TPU or GPU": """
        import tensorflow as tf
        try:
            strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
        except ValueError:
            strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(tf.data.Dataset.from_tensor_slices(x).batch(8))
    """,
    "tpu cardinality": """
        import tensorflow as tf
        strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())
        with strategy.scope():
            m = tf.keras.Sequential([]); m.compile("adam", "mse")
        d = tf.data.Dataset.from_tensor_slices(x).batch(8, **kw)
        m.fit(d)
        m.fit(x, y, batch_size=128)
    """,
    "the guide of Keras on TFRecords: a TPU, or whatever is there": """
        import tensorflow as tf
        from functools import partial
        try:
            tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
            strategy = tf.distribute.TPUStrategy(tpu)
        except:
            strategy = tf.distribute.get_strategy()
        def load_dataset(filenames, labeled=True):
            ignore_order = tf.data.Options()
            ignore_order.experimental_deterministic = False
            dataset = tf.data.TFRecordDataset(filenames)
            dataset = dataset.with_options(ignore_order)
            return dataset.map(partial(read_tfrecord, labeled=labeled), num_parallel_calls=tf.data.AUTOTUNE)
        def get_dataset(filenames, labeled=True):
            dataset = load_dataset(filenames, labeled=labeled).shuffle(2048)
            return dataset.prefetch(buffer_size=tf.data.AUTOTUNE).batch(64)
        train_dataset = get_dataset(tf.io.gfile.glob("train*.tfrec"))
        image_batch, label_batch = next(iter(train_dataset))
        def make_model():
            base_model = tf.keras.applications.Xception(include_top=False)
            inputs = tf.keras.layers.Input([1024, 1024, 3])
            x = tf.keras.layers.GlobalAveragePooling2D()(base_model(inputs))
            model = tf.keras.Model(inputs=inputs, outputs=tf.keras.layers.Dense(1, activation="sigmoid")(x))
            model.compile(optimizer=tf.keras.optimizers.Adam(), loss="binary_crossentropy", metrics=tf.keras.metrics.AUC(name="auc"))
            return model
        with strategy.scope():
            model = make_model()
        history = model.fit(train_dataset, epochs=2)
    """,
    "the guide of Keras on distributed embeddings": """
        import os
        import libtpu
        os.environ["PJRT_DEVICE"] = "TPU"
        import tensorflow as tf
        os.environ["KERAS_BACKEND"] = "tensorflow"
        import keras
        import keras_rs
        import tensorflow_datasets as tfds
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
        topology = tf.tpu.experimental.initialize_tpu_system(resolver)
        assignment = tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=8)
        strategy = tf.distribute.TPUStrategy(resolver, experimental_device_assignment=assignment)
        PER_REPLICA_BATCH_SIZE = 256
        BATCH_SIZE = PER_REPLICA_BATCH_SIZE * strategy.num_replicas_in_sync
        ratings = tfds.load("movielens/100k-ratings", split="train").map(preprocess).shuffle(100_000)
        train = ratings.take(80_000).batch(BATCH_SIZE, drop_remainder=True).cache()
        class EmbeddingModel(keras.Model):
            def __init__(self):
                super().__init__()
                self.ratings = keras.Sequential([keras.layers.Dense(1)])
        with strategy.scope():
            model = EmbeddingModel()
            model.compile(loss=keras.losses.MeanSquaredError(), optimizer="adagrad")
        with strategy.scope():
            model.fit(train, epochs=5)
    """,
    "another strategy without a TPU, where nothing drops": """
        import tensorflow as tf
        try:
            strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
        except ValueError:
            strategy = tf.distribute.MirroredStrategy()
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16 * strategy.num_replicas_in_sync)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
        model.fit(dataset.prefetch(1))
    """,
}
