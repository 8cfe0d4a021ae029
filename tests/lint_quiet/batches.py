"""Batches that are no replica's, whatever they are called, or one GPU's on one GPU."""

PROGRAMS = {
    "one GPU's batch on one GPU": """
        import tensorflow as tf
        batch_size_per_gpu = 8
        strategy = tf.distribute.MirroredStrategy(["/gpu:0"])
        d = strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(batch_size_per_gpu))
    """,
    "per worker on mirrored": """
        import tensorflow as tf
        per_worker_batch_size = 64
        s = tf.distribute.MirroredStrategy()
        d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(per_worker_batch_size))
    """,
    "multi_gpu_batch_size": """
        import tensorflow as tf
        multi_gpu_batch_size = 64
        s = tf.distribute.MirroredStrategy()
        d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(multi_gpu_batch_size))
    """,
    "gpu_batch_size": """
        import tensorflow as tf
        cpu_batch_size, gpu_batch_size = 8, 64
        s = tf.distribute.MirroredStrategy()
        d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(gpu_batch_size))
    """,
    "per device with a list of one": """
        import tensorflow as tf
        per_gpu_batch = 64
        gpus = tf.config.list_physical_devices("GPU")
        s = tf.distribute.MirroredStrategy(devices=[g.name for g in gpus[:1]])
        d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(per_gpu_batch))
    """,
    "a flag that is multiplied": """
        import tensorflow as tf
        from absl import app, flags
        FLAGS = flags.FLAGS
        flags.DEFINE_integer("batch_size_per_replica", 64, "")
        def main(_):
            strategy = tf.distribute.MirroredStrategy()
            FLAGS.batch_size_per_replica *= strategy.num_replicas_in_sync
            ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(FLAGS.batch_size_per_replica)
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile("adam", "mse")
            model.fit(ds)
        app.run(main)
    """,
    "a configuration that is multiplied by somebody who is called later": """
        import tensorflow as tf
        import cfg
        def main():
            strategy = tf.distribute.MirroredStrategy()
            prepare(strategy)
            ds = tf.data.Dataset.range(9).batch(cfg.BATCH_PER_GPU)
            return strategy.experimental_distribute_dataset(ds)
        def prepare(strategy):
            setattr(cfg, "BATCH_PER_GPU", cfg.BATCH_PER_GPU * strategy.num_replicas_in_sync)
    """,
    "a configuration that is made of a product": """
        import types
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        c = types.SimpleNamespace(batch_per_gpu=32 * strategy.num_replicas_in_sync)
        ds = strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(c.batch_per_gpu))
    """,
    "options that batch per replica": """
        import tensorflow as tf
        PER_REPLICA_BATCH = 16
        strategy = tf.distribute.MirroredStrategy()
        ds = tf.data.Dataset.range(100).batch(PER_REPLICA_BATCH)
        options = tf.distribute.InputOptions(
            experimental_place_dataset_on_device=True,
            experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,
        )
        a = strategy.experimental_distribute_dataset(ds, options)
        b = strategy.experimental_distribute_dataset(ds, options=make_options())
    """,
}
