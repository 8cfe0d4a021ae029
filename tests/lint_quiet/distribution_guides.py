"""TensorFlow's guide and tutorials of tf.distribute, and those of Keras on training with several devices."""

PROGRAMS = {
    "mirrored, compiled by a string outside": """
        import tensorflow as tf
        mirrored_strategy = tf.distribute.MirroredStrategy()
        with mirrored_strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
        model.compile(loss="mse", optimizer="sgd")
        dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(100).batch(10)
        model.fit(dataset, epochs=2)
        model.evaluate(dataset)
    """,
    "global batch from the replicas": """
        import tensorflow as tf
        mirrored_strategy = tf.distribute.MirroredStrategy()
        BATCH_SIZE_PER_REPLICA = 5
        global_batch_size = BATCH_SIZE_PER_REPLICA * mirrored_strategy.num_replicas_in_sync
        dataset = tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(100).batch(global_batch_size)
        dist_dataset = mirrored_strategy.experimental_distribute_dataset(dataset)
    """,
    "custom loop": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        global_batch_size = 16
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.SGD()
        dist = strategy.experimental_distribute_dataset(tf.data.Dataset.range(100).batch(global_batch_size))
        def train_step(inputs):
            with tf.GradientTape() as tape:
                loss = tf.nn.compute_average_loss(model(inputs), global_batch_size=global_batch_size)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            return loss
        @tf.function
        def distributed_train_step(inputs):
            losses = strategy.run(train_step, args=(inputs,))
            return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
        for inputs in dist:
            print(distributed_train_step(inputs))
    """,
    "default strategy": """
        import tensorflow as tf
        if tf.config.list_physical_devices("GPU"):
            strategy = tf.distribute.MirroredStrategy()
        else:
            strategy = tf.distribute.get_strategy()
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
        model.fit(x, y)
    """,
    "a strategy that is only shown": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
        strategy2 = tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())
        print(strategy.num_replicas_in_sync)
    """,
    "tutorial keras": """
        import tensorflow as tf, tensorflow_datasets as tfds
        datasets, info = tfds.load(name="mnist", with_info=True, as_supervised=True)
        strategy = tf.distribute.MirroredStrategy()
        BATCH_SIZE_PER_REPLICA = 64
        BATCH_SIZE = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync
        train_dataset = datasets["train"].map(scale).cache().shuffle(10000).batch(BATCH_SIZE)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
            model.compile(optimizer=tf.keras.optimizers.Adam(0.001), metrics=["accuracy"])
        model.fit(train_dataset, epochs=12)
        unreplicated_model = tf.keras.models.load_model("saved.keras")
        unreplicated_model.compile(optimizer=tf.keras.optimizers.Adam())
        with strategy.scope():
            replicated_model = tf.keras.models.load_model("saved.keras")
            replicated_model.compile(optimizer=tf.keras.optimizers.Adam())
    """,
    "tutorial save and load": """
        import tensorflow as tf
        mirrored_strategy = tf.distribute.MirroredStrategy()
        def get_model():
            with mirrored_strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
                model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
                return model
        model = get_model()
        model.fit(train_dataset, epochs=2)
        restored = tf.keras.models.load_model("path")
        restored.fit(train_dataset, epochs=2)
        another_strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        with another_strategy.scope():
            again = tf.keras.models.load_model("path")
            again.fit(train_dataset, epochs=2)
    """,
    "tutorial multi worker, single worker first": """
        import tensorflow as tf
        def build_and_compile():
            model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
            model.compile(optimizer=tf.keras.optimizers.SGD(learning_rate=0.001), loss="mse")
            return model
        single = build_and_compile()
        single.fit(dataset, epochs=3, steps_per_epoch=70)
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            multi_worker_model = build_and_compile()
        multi_worker_model.fit(dataset, epochs=3, steps_per_epoch=70)
    """,
    "tutorial multi worker, batch per worker": """
        import json, os
        import tensorflow as tf
        per_worker_batch_size = 64
        num_workers = len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"])
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        global_batch_size = per_worker_batch_size * num_workers
        train = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch_size))
    """,
    "datasets from a function are batched per replica": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def dataset_fn(input_context):
            per_replica_batch_size = input_context.get_per_replica_batch_size(64)
            dataset = tf.data.Dataset.from_tensors([1.0]).repeat(100).batch(per_replica_batch_size)
            return dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id).prefetch(2)
        dist = strategy.distribute_datasets_from_function(dataset_fn)
    """,
    "parameter servers": """
        import tensorflow as tf
        strategy = tf.distribute.ParameterServerStrategy(tf.distribute.cluster_resolver.TFConfigClusterResolver())
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
        model.compile(tf.keras.optimizers.SGD(), loss="mse", steps_per_execution=10)
        model.fit(tf.keras.utils.experimental.DatasetCreator(dataset_fn), epochs=5, steps_per_epoch=20)
    """,
    "input of a literal batch": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(100).batch(16))
    """,
    "migrated, optimizer made in the scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.models.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.Adagrad(learning_rate=0.05)
        model.compile(optimizer=optimizer, loss="mse")
        model.fit(dataset)
    """,
    "Keras distribution": """
        import os
        os.environ["KERAS_BACKEND"] = "jax"
        import keras
        from keras import layers
        import jax
        from tensorflow import data as tf_data
        mesh = keras.distribution.DeviceMesh(shape=(2, 4), axis_names=("data", "model"), devices=keras.distribution.list_devices())
        keras.distribution.set_distribution(keras.distribution.DataParallel(devices=jax.devices()))
        model = keras.Sequential([layers.Dense(10)])
        dataset = tf_data.Dataset.from_tensor_slices((x, y)).batch(32)
        model.compile(loss="mse")
        model.fit(dataset, epochs=3)
    """,
    "Keras with TensorFlow's strategies": """
        import os
        os.environ["KERAS_BACKEND"] = "tensorflow"
        import tensorflow as tf
        import keras
        def get_compiled_model():
            inputs = keras.Input(shape=(784,))
            model = keras.Model(inputs, keras.layers.Dense(10)(inputs))
            model.compile(optimizer=keras.optimizers.Adam(), loss="mse")
            return model
        def make_or_restore_model():
            checkpoints = os.listdir("ckpt")
            if checkpoints:
                return keras.models.load_model(max(checkpoints))
            return get_compiled_model()
        def run_training(epochs=1):
            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                model = make_or_restore_model()
                model.fit(train_dataset, epochs=epochs)
        run_training(epochs=1)
        run_training(epochs=1)
    """,
    "Keras, a loop in TensorFlow": """
        import keras, tensorflow as tf
        model = keras.Sequential([keras.layers.Dense(10)])
        optimizer = keras.optimizers.Adam(learning_rate=1e-3)
        train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1024).batch(32)
        for step, (x, y) in enumerate(train_dataset):
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))
    """,
    "Keras, torch over processes": """
        import os
        os.environ["KERAS_BACKEND"] = "torch"
        import torch, keras
        def per_device_launch_fn(current_gpu_index, num_gpu):
            model = keras.Sequential([keras.layers.Dense(10)])
            model.to(torch.device(f"cuda:{current_gpu_index}"))
        torch.multiprocessing.start_processes(per_device_launch_fn, args=(2,), nprocs=2, join=True, start_method="fork")
    """,
    "KerasTuner distributes by itself": """
        import keras, keras_tuner, tensorflow as tf
        def build(hp):
            model = keras.Sequential([keras.layers.Dense(10)])
            model.compile(optimizer=keras.optimizers.Adam(), loss="mse")
            return model
        tuner = keras_tuner.RandomSearch(build, distribution_strategy=tf.distribute.MirroredStrategy())
        tuner.search(x, y)
        build(None).fit(x, y)
    """,
}
