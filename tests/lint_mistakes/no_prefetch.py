"""Files read and prepared for fit, and never prefetched."""

PROGRAMS = {
    "tfrecord": """
        import tensorflow as tf
        m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
        m.compile("adam","mse")
        d=tf.data.TFRecordDataset("a").map(f).shuffle(3).batch(8)
        m.fit(d)
    """,
    "repeat after": """
        import tensorflow as tf
        m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
        m.compile("adam","mse")
        d=tf.data.TFRecordDataset("a").map(f).batch(8).repeat()
        m.fit(d, steps_per_epoch=3)
    """,
    "interleave": """
        import tensorflow as tf
        m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
        m.compile("adam","mse")
        d=tf.data.Dataset.list_files("a").interleave(tf.data.TFRecordDataset).map(f).batch(3)
        m.fit(d)
    """,
    "subclass model": """
        import tensorflow as tf
        class N(tf.keras.Model): pass
        m=N()
        m.compile("adam")
        d=tf.data.TextLineDataset("a").map(f).batch(3)
        m.fit(x=d)
    """,
    "function": """
        import tensorflow as tf
        m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
        m.compile("adam","mse")
        def ds(fn, train):
          d=tf.data.TFRecordDataset(fn)
          d=d.map(parse)
          if train:
            d=d.shuffle(3).repeat()
          return d.batch(8)
        m.fit(ds("a", True), epochs=1)
    """,
    "padded": """
        import tensorflow as tf
        m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
        m.compile("adam","mse")
        d=tf.data.TFRecordDataset("a").map(f).padded_batch(8)
        m.fit(d)
    """,
}
