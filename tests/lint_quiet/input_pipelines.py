"""Datasets that are prefetched somewhere, or need it not: TensorFlow's guide on tf.data and Keras' guides."""

PROGRAMS = {
    "optimized pipeline": """
        import tensorflow as tf
        dataset = tf.data.Dataset.range(2).interleave(Source, num_parallel_calls=tf.data.AUTOTUNE)
        dataset = dataset.batch(256, drop_remainder=True).map(mapped, num_parallel_calls=tf.data.AUTOTUNE).cache()
        dataset = dataset.map(more, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE).unbatch()
    """,
    "a naive benchmark": """
        import tensorflow as tf
        class Artificial(tf.data.Dataset):
            def _generator(num_samples):
                for index in range(num_samples):
                    yield (index,)
            def __new__(cls, num_samples=3):
                return tf.data.Dataset.from_generator(cls._generator, args=(num_samples,))
        for sample in Artificial().map(mapped).batch(2):
            pass
    """,
    "tensors are batched, not prefetched": """
        import tensorflow as tf
        from tensorflow import keras
        train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train))
        train_dataset = train_dataset.shuffle(buffer_size=1024).batch(64)
        model = keras.Sequential([keras.layers.Dense(10)])
        model.compile("adam", "mse")
        model.fit(train_dataset, epochs=3)
    """,
    "preprocessing layers map tensors": """
        import keras
        from tensorflow import data as tf_data
        train = tf_data.Dataset.from_tensor_slices((x_train, y_train)).batch(16).map(lambda x, y: (augment(x), y))
        model = keras.Sequential([keras.layers.Dense(10)])
        model.compile(optimizer="rmsprop", loss="mse")
        model.fit(train, steps_per_epoch=5)
    """,
    "files, prefetched in a function": """
        import tensorflow as tf
        def configure(ds):
            return ds.shuffle(100).batch(32).prefetch(buffer_size=tf.data.AUTOTUNE)
        ds = configure(tf.data.Dataset.list_files("*/*").map(process, num_parallel_calls=tf.data.AUTOTUNE))
        model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
        model.compile("adam", "mse")
        model.fit(ds)
    """,
    "files, handed to something unknown": """
        import tensorflow as tf
        ds = optimise(tf.data.TFRecordDataset(files).map(parse).batch(8))
        ds2 = tf.data.TFRecordDataset(files).map(parse).batch(8).apply(tuned)
        model = tf.keras.Sequential([])
        model.fit(ds)
        model.fit(ds2)
    """,
    "files, perhaps wrapped": """
        import tensorflow as tf
        ds = tf.data.TFRecordDataset(files).map(parse).batch(8)
        if faster:
            ds = optimise(ds)
        model = tf.keras.Sequential([])
        model.fit(ds)
    """,
    "files, prefetched unless a loop runs": """
        import tensorflow as tf
        ds = tf.data.TFRecordDataset("a").map(parse).batch(8).prefetch(1)
        for name in names:
            ds = tf.data.TFRecordDataset(name).map(parse).batch(8)
        model = tf.keras.Sequential([])
        model.fit(ds)
    """,
    "files, cached": """
        import tensorflow as tf
        model = tf.keras.Sequential([])
        model.fit(tf.data.TFRecordDataset(files).map(parse).cache().batch(8))
    """,
    "a strategy prefetches by itself": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(tf.data.TFRecordDataset(files).map(parse).batch(8))
    """,
    "images from a folder": """
        import keras
        train = keras.utils.image_dataset_from_directory("data", image_size=(180, 180), batch_size=32)
        model = keras.Sequential([keras.layers.Rescaling(1 / 255)])
        model.compile("adam", "mse")
        model.fit(train, epochs=3)
    """,
    "generator only batched": """
        import tensorflow as tf
        d = tf.data.Dataset.from_generator(g, output_signature=s)
        d = d.batch(8)
        m = tf.keras.Sequential([])
        m.fit(x=d, epochs=50)
    """,
    "generator small val": """
        import tensorflow as tf
        d = tf.data.Dataset.from_generator(g, output_signature=s).batch(8)
        opts = tf.data.Options()
        d = d.apply(tf.data.experimental.prefetch_to_device("/gpu:0"))
        m = tf.keras.Sequential([])
        m.fit(d)
    """,
    "names of files, prefetched, cached, or read in parallel": """
        import tensorflow as tf
        def load(path, label):
            image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
            return tf.image.resize(image, (224, 224)), label
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        files = tf.data.Dataset.from_tensor_slices((paths, labels))
        model.fit(files.map(load).batch(32).prefetch(tf.data.AUTOTUNE))
        model.fit(files.map(load).cache().batch(32))
        model.fit(files.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32))
        model.fit(files.map(load, tf.data.AUTOTUNE).batch(32))
        model.predict(files.map(load).batch(32))
    """,
    "tensors that are scaled": """
        import tensorflow as tf
        def scale(image, label):
            return tf.cast(image, tf.float32) / 255, label
        def show(path):
            return tf.io.decode_jpeg(tf.io.read_file(path))
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(tf.data.Dataset.from_tensor_slices((images, labels)).map(scale).batch(32))
    """,
    "loops that train on what is ready": """
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()
        @tf.function
        def train_step(x):
            with tf.GradientTape() as tape:
                loss = loss_fn(model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        for x in tf.data.TFRecordDataset(files).map(parse).batch(32).prefetch(1):
            train_step(x)
        for x in tf.data.TFRecordDataset(files).map(parse).cache().batch(32):
            train_step(x)
        for x in tf.data.Dataset.from_tensor_slices(images).map(scale).batch(32):
            train_step(x)
    """,
    "TensorFlow's tutorial pix2pix, whose map works ahead": """
        import tensorflow as tf
        generator = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        generator_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
        train_dataset = tf.data.Dataset.list_files("train/*.jpg")
        train_dataset = train_dataset.map(load_image_train, num_parallel_calls=tf.data.AUTOTUNE)
        train_dataset = train_dataset.shuffle(400).batch(1)
        @tf.function
        def train_step(input_image, target, step):
            with tf.GradientTape() as gen_tape:
                loss = loss_fn(generator(input_image, training=True), target)
            gradients = gen_tape.gradient(loss, generator.trainable_variables)
            generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
        for step, (input_image, target) in train_dataset.repeat().take(1000).enumerate():
            train_step(input_image, target, step)
    """,
    "loops that do not train": """
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        def saliency(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                score = tf.reduce_max(model(x))
            return tape.gradient(score, x)
        for x in tf.data.TFRecordDataset(files).map(parse).batch(32):
            show(saliency(x))
            print(model(x))
    """,
}
