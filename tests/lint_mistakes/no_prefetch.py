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
    "names of files": """
        import tensorflow as tf
        def load(path, label):
            image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
            return tf.image.resize(image, (224, 224)), label
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        dataset = tf.data.Dataset.from_tensor_slices((paths, labels)).map(load).batch(32)
        model.fit(dataset, epochs=3)
    """,
    "names of files, through a helper": """
        import tensorflow as tf
        def read(path):
            return tf.image.decode_png(tf.io.read_file(path))
        def make(paths, labels, batch):
            dataset = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(1000)
            dataset = dataset.map(lambda path, label: (read(path), label))
            return dataset.batch(batch)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        print(read(paths[0]).shape)
        model.fit(make(paths, labels, 32), validation_data=make(others, labels, 32))
    """,
    "a loop with a step": """
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()
        @tf.function
        def train_step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss
        def train(dataset, epochs):
            for epoch in range(epochs):
                for step, (x, y) in enumerate(dataset):
                    loss = train_step(x, y)
        train(tf.data.TFRecordDataset(files).map(parse).shuffle(100).batch(32), 3)
    """,
    "a loop with a tape": """
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()
        dataset = tf.data.Dataset.list_files("*.png").map(load).batch(32)
        for batch in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(batch) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    """,
}
