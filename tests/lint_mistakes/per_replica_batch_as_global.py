"""A batch size named after one replica, given for all of them together."""

PROGRAMS = {
    "fit": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        BATCH_PER_GPU=32
        with s.scope():
          m=tf.keras.Sequential([]); m.compile("adam","mse")
        m.fit(x,y,batch_size=BATCH_PER_GPU)
    """,
    "ds": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        per_replica_batch_size=32
        d=s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(per_replica_batch_size))
    """,
    "positional batch": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        batch_size_per_gpu=32
        with s.scope():
          m=tf.keras.Sequential([]); m.compile("adam","mse")
        m.fit(x,y,batch_size_per_gpu)
    """,
    "dir": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        batch_size_per_replica=32
        d=tf.keras.utils.image_dataset_from_directory("a", batch_size=batch_size_per_replica)
        with s.scope():
          m=tf.keras.Sequential([]); m.compile("adam","mse")
        m.fit(d)
    """,
    "flags": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        from absl import flags
        F=flags.FLAGS
        d=s.experimental_distribute_dataset(tf.data.TFRecordDataset("a").batch(F.per_replica_batch_size))
    """,
    "with options that say so": """
        import tensorflow as tf
        PER_REPLICA_BATCH = 16
        strategy = tf.distribute.MirroredStrategy()
        ds = tf.data.Dataset.range(100).batch(PER_REPLICA_BATCH)
        options = tf.distribute.InputOptions(experimental_replication_mode=tf.distribute.InputReplicationMode.PER_WORKER)
        ds = strategy.experimental_distribute_dataset(ds, options)
    """,
    "a flag that is kept": """
        import tensorflow as tf
        from absl import flags
        flags.DEFINE_integer("batch_size_per_replica", 64, "")
        class Job:
            def __init__(self):
                self.batch_size_per_replica = flags.FLAGS.batch_size_per_replica
            def run(self):
                strategy = tf.distribute.MirroredStrategy()
                ds = tf.data.Dataset.range(9).batch(self.batch_size_per_replica)
                return strategy.experimental_distribute_dataset(ds)
        Job().run()
    """,
    "for a TPU, where there is one": """
        import tensorflow as tf
        resolver = find_a_tpu()
        strategy = tf.distribute.TPUStrategy(resolver) if resolver else tf.distribute.get_strategy()
        per_replica_batch = 16
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(per_replica_batch, drop_remainder=True).prefetch(2)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
        model.fit(dataset)
    """,
}
