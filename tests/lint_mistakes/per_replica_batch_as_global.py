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
}
