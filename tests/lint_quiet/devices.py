"""Chosen devices, logical devices and memory limits: TensorFlow's guide "Use a GPU", and models that each have a GPU."""

PROGRAMS = {
    "GPU guide, growth": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            try:
                for gpu in gpus:
                    tf.config.experimental.set_memory_growth(gpu, True)
                logical_gpus = tf.config.list_logical_devices("GPU")
                print(len(gpus), "Physical GPUs,", len(logical_gpus), "Logical GPUs")
            except RuntimeError as e:
                print(e)
    """,
    "GPU guide, one visible": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            try:
                tf.config.set_visible_devices(gpus[0], "GPU")
                tf.config.experimental.set_memory_growth(gpus[0], True)
                print(len(tf.config.list_logical_devices("GPU")))
            except RuntimeError as e:
                print(e)
    """,
    "GPU guide, a limit": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if gpus:
            tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=1024)])
            logical_gpus = tf.config.list_logical_devices("GPU")
    """,
    "GPU guide, manual placement": """
        import tensorflow as tf
        gpus = tf.config.list_logical_devices("GPU")
        if gpus:
            c = []
            for gpu in gpus:
                with tf.device(gpu.name):
                    a = tf.constant([[1.0, 2.0]])
                    c.append(tf.matmul(a, a, transpose_b=True))
            with tf.device("/CPU:0"):
                print(tf.add_n(c))
    """,
    "GPU guide, strategy over logical devices": """
        import tensorflow as tf
        tf.debugging.set_log_device_placement(True)
        gpus = tf.config.list_logical_devices("GPU")
        strategy = tf.distribute.MirroredStrategy(gpus)
        with strategy.scope():
            inputs = tf.keras.layers.Input(shape=(1,))
            predictions = tf.keras.layers.Dense(1)(inputs)
            model = tf.keras.models.Model(inputs=inputs, outputs=predictions)
            model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(learning_rate=0.2))
    """,
    "layers on several GPUs": """
        import tensorflow as tf
        for i, layer in enumerate(layers):
            with tf.device(f"/gpu:{i}"):
                x = layer(x)
    """,
    "an ensemble, one model on each GPU": """
        import tensorflow as tf
        for i in range(4):
            with tf.device(f"/gpu:{i}"):
                model = tf.keras.Sequential([])
                model.compile("adam", "mse")
                model.fit(x[i], y[i])
    """,
    "federated simulation": """
        import tensorflow as tf
        def build(): return tf.keras.Sequential([tf.keras.layers.Dense(1)])
        weights = None
        for i in range(4):
            with tf.device(f"/gpu:{i}"):
                model = build()
                model.compile("sgd", "mse")
                model.set_weights(weights)
                model.fit(x[i], y[i])
    """,
    "independent training, one per GPU": """
        import tensorflow as tf
        for i, config in enumerate(configs):
            with tf.device(f"/gpu:{i}"):
                model = tf.keras.Sequential([tf.keras.layers.Dense(config)])
                opt = tf.keras.optimizers.Adam()
                for x, y in data:
                    with tf.GradientTape() as tape:
                        loss = f(model(x), y)
                    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    """,
    "device of a loop's batch: config string": """
        import tensorflow as tf
        for epoch in range(3):
            for batch in data:
                with tf.device(batch.device):
                    with tf.GradientTape() as t: pass
    """,
    "gradients on one chosen device": """
        import tensorflow as tf
        for batch in data:
            with tf.device("/gpu:0"):
                with tf.GradientTape() as tape:
                    loss = f(batch)
    """,
    "limits where they exist": """
        import tensorflow as tf
        from tensorflow.python.client import device_lib
        print([d.memory_limit for d in device_lib.list_local_devices()])
        for gpu in tf.config.list_physical_devices("GPU"):
            print(tf.config.get_logical_device_configuration(gpu)[0].memory_limit)
        config.memory_limit = 3
    """,
    "memory_limit of hasattr": """
        import tensorflow as tf
        for g in tf.config.list_physical_devices("GPU"):
            if hasattr(g, "memory_limit"):
                print(g.memory_limit)
    """,
    "each GPU is warmed up with a variable of its own": """
        import time
        import tensorflow as tf
        for i, _ in enumerate(tf.config.list_physical_devices("GPU")):
            with tf.device(f"/GPU:{i}"):
                w = tf.Variable(tf.random.normal([4096, 4096]))
                t0 = time.time()
                for _ in range(100):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_sum(tf.matmul(w, w))
                    w.assign_sub(1e-9 * tape.gradient(loss, w))
                print(i, time.time() - t0)
    """,
    "a burn-in in a function, of two variables": """
        import tensorflow as tf
        def burn(name):
            with tf.device(name):
                a, b = tf.Variable(tf.ones([9, 9])), tf.Variable(tf.ones([9, 9]))
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(a @ b)
                tf.keras.optimizers.SGD().apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))
        for gpu in tf.config.list_logical_devices("GPU"):
            burn(gpu.name)
    """,
    "a device that is chosen, or compared with another": """
        import tensorflow as tf
        device = "/gpu:1" if second else "/gpu:0"
        with tf.device(device):
            with tf.GradientTape() as tape:
                loss = loss_fn(model(x))
        for name in ["/cpu:0", "/gpu:0"]:
            with tf.device(name):
                with tf.GradientTape() as tape:
                    loss = loss_fn(model(x))
        for name in ["/gpu:0"]:
            with tf.device(name):
                with tf.GradientTape() as tape:
                    loss = loss_fn(model(x))
    """,
    "other work on each of several named GPUs": """
        import tensorflow as tf
        for name, x in zip(["/gpu:0", "/gpu:1"], batches):
            with tf.device(name):
                results.append(tf.matmul(x, x))
        for name, seed in zip(["/gpu:0", "/gpu:1"], (1, 2)):
            with tf.device(name):
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                with tf.GradientTape() as tape:
                    loss = loss_fn(model(x))
                optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    """,
    "a model of its own for each of several named GPUs": """
        import tensorflow as tf
        generator, critic = tf.keras.Sequential([]), tf.keras.Sequential([])
        for name, model in zip(["/gpu:0", "/gpu:1"], [generator, critic]):
            with tf.device(name):
                with tf.GradientTape() as tape:
                    loss = loss_fn(model(x))
                grads = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(grads, model.trainable_variables))
        for name, model in zip(["/gpu:0", "/gpu:1"], ensemble):
            with tf.device(name):
                with tf.GradientTape() as tape:
                    loss = loss_fn(model(x))
                grads = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(grads, model.trainable_variables))
    """,
}
