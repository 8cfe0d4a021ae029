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
}
