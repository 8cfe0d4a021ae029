"""A dataset for a TPU, batched without drop_remainder."""

PROGRAMS = {
    "plain": """
        import tensorflow as tf
        r=tf.distribute.cluster_resolver.TPUClusterResolver()
        s=tf.distribute.TPUStrategy(r)
        with s.scope():
          m=tf.keras.Sequential([])
          m.compile("adam","mse")
        m.fit(tf.data.Dataset.from_tensor_slices(x).batch(8))
    """,
    "False": """
        import tensorflow as tf
        r=tf.distribute.cluster_resolver.TPUClusterResolver()
        s=tf.distribute.TPUStrategy(r)
        with s.scope():
          m=tf.keras.Sequential([])
          m.compile("adam","mse")
        m.fit(tf.data.Dataset.from_tensor_slices(x).batch(8, drop_remainder=False))
    """,
    "prefetch": """
        import tensorflow as tf
        r=tf.distribute.cluster_resolver.TPUClusterResolver()
        s=tf.distribute.TPUStrategy(r)
        with s.scope():
          m=tf.keras.Sequential([])
          m.compile("adam","mse")
        m.fit(tf.data.Dataset.from_tensor_slices(x).shuffle(3).batch(128).prefetch(-1), epochs=3)
    """,
    "tfds": """
        import tensorflow_datasets as tfds
        import tensorflow as tf
        r=tf.distribute.cluster_resolver.TPUClusterResolver()
        s=tf.distribute.TPUStrategy(r)
        with s.scope():
          m=tf.keras.Sequential([])
          m.compile("adam","mse")
        m.fit(tfds.load("mnist", split="train", as_supervised=True).batch(128))
    """,
    "experimental": """
        import tensorflow as tf
        r=tf.distribute.cluster_resolver.TPUClusterResolver()
        s=tf.distribute.experimental.TPUStrategy(r)
        with s.scope():
          m=tf.keras.Sequential([])
          m.compile("adam","mse")
        m.fit(tf.data.TFRecordDataset("a").map(f).batch(8).prefetch(1))
    """,
}
