"""Programs in which nothing is wrong, or nothing is certain: the patterns of TensorFlow's and Keras' own guides among them."""

import ast
import textwrap

import pytest

from gpucheck.lint.pages import load_rules
from gpucheck.lint.runner import lint_text
from gpucheck.lint.script import Script

RULES = load_rules()

QUIET = {
    # TensorFlow's guide "Distributed training"
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
    # the tutorials of tf.distribute
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
    # the guide "Use a GPU"
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
    # the guide "Mixed precision"
    "mixed precision, the wrong output is replaced": """
        import tensorflow as tf
        from tensorflow import keras
        from tensorflow.keras import layers, mixed_precision
        mixed_precision.set_global_policy(mixed_precision.Policy("mixed_float16"))
        inputs = keras.Input(shape=(784,))
        x = layers.Dense(64, activation="relu")(inputs)
        outputs = layers.Dense(10, activation="softmax", name="predictions")(x)
        x = layers.Dense(10, name="dense_logits")(x)
        outputs = layers.Activation("softmax", dtype="float32", name="predictions")(x)
        outputs = layers.Activation("linear", dtype="float32")(outputs)
        model = keras.Model(inputs=inputs, outputs=outputs)
        model.compile(loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.RMSprop())
        model.fit(x_train, y_train, batch_size=8192, epochs=5)
    """,
    "mixed precision, the global policy is float32 again": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        keras.mixed_precision.set_global_policy("float32")
        model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
        model.compile("adam", "mse")
    """,
    "mixed precision, only if asked for": """
        import keras
        if args.fp16:
            keras.mixed_precision.set_global_policy("mixed_float16")
        model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
        model.compile("adam", "mse")
    """,
    "softmax before the policy": """
        import keras
        model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
        model.compile("adam", "mse")
        keras.mixed_precision.set_global_policy("mixed_float16")
    """,
    "attention's softmax in the middle": """
        import keras
        from keras import layers
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
        inputs = keras.Input((8,))
        weights = layers.Softmax()(layers.Dense(8)(inputs))
        outputs = layers.Dense(1, dtype="float32")(layers.Multiply()([inputs, weights]))
        model = keras.Model(inputs, outputs)
        model.compile("adam", "mse")
    """,
    "logits": """
        import keras
        keras.config.set_dtype_policy("mixed_float16")
        model = keras.Sequential([keras.layers.Dense(10)])
        model.add(keras.layers.Activation("softmax", dtype="float32"))
        model.compile("adam", "mse")
    """,
    "a backbone that is built, never compiled": """
        import keras
        keras.config.set_dtype_policy("mixed_float16")
        backbone = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
        model = keras.Sequential([backbone, keras.layers.Dense(1, dtype="float32")])
        model.compile("adam", "mse")
    """,
    # the guide "Better performance with the tf.data API" and the guides of Keras
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
    # the guide "Use TPUs"
    "TPU guide": """
        import tensorflow as tf, tensorflow_datasets as tfds
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        strategy = tf.distribute.TPUStrategy(resolver)
        def get_dataset(batch_size, is_training=True):
            dataset, info = tfds.load(name="mnist", split="train", with_info=True, as_supervised=True)
            dataset = dataset.map(scale)
            if is_training:
                dataset = dataset.shuffle(10000)
                dataset = dataset.repeat()
            dataset = dataset.batch(batch_size)
            return dataset
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
            model.compile(optimizer="adam", loss="mse")
        batch_size = 200
        train_dataset = get_dataset(batch_size, is_training=True)
        model.fit(train_dataset, epochs=5, steps_per_epoch=60000 // batch_size, validation_data=get_dataset(batch_size, False))
        per_replica_batch_size = batch_size // strategy.num_replicas_in_sync
        train = strategy.distribute_datasets_from_function(lambda _: get_dataset(per_replica_batch_size, is_training=True))
    """,
    "TPU, a sharded batch that fits": """
        import tensorflow as tf
        strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(tf.data.Dataset.from_tensor_slices(x).repeat().batch(8), steps_per_epoch=3)
        model.fit(tf.data.Dataset.from_tensor_slices(x).batch(8, True))
        model.fit(numpy_array)
    """,
    "TPU, with steps or repeated": """
        import tensorflow as tf
        strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(tf.data.Dataset.from_tensor_slices(x).batch(8), steps_per_epoch=3)
        strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).repeat().batch(8))
    """,
    "TPU or GPU": """
        import tensorflow as tf
        try:
            strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
        except ValueError:
            strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(tf.data.Dataset.from_tensor_slices(x).batch(8))
    """,
    # Keras' guides
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
    # TensorFlow 1 on purpose
    "compat.v1": """
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        config = tf.ConfigProto(device_count={"GPU": 0})
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
    """,
    "migration guide, both": """
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1
        with tf1.Session(config=tf1.ConfigProto()) as session:
            session.run(a)
        strategy = tf1.distribute.MirroredStrategy()
        config = tf1.estimator.RunConfig(train_distribute=strategy)
    """,
    "either version": """
        import tensorflow as tf
        if tf.__version__.startswith("1."):
            config = tf.ConfigProto()
            session = tf.Session(config=config)
        if hasattr(tf, "Session"):
            tf.Session()
        try:
            tf.Session()
        except AttributeError:
            pass
    """,
    "somebody else's session": """
        import requests, tensorflow as tf
        session = requests.Session()
        from onnxruntime import InferenceSession as Session
        Session("a")
    """,
    "growth through compat.v1's session": """
        import tensorflow as tf
        config = tf.compat.v1.ConfigProto()
        config.gpu_options.allow_growth = True
        session = tf.compat.v1.InteractiveSession(config=config)
        model = tf.keras.Sequential([])
        model.fit(x)
    """,
    "graphs on purpose": """
        import tensorflow as tf
        tf.compat.v1.disable_eager_execution()
        config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
        model = tf.keras.Sequential([])
        model.fit(x)
    """,
    "multi_gpu_model, or nothing": """
        try:
            from keras.utils import multi_gpu_model
        except ImportError:
            raise SystemExit("too new")
        multi_gpu_model(model, gpus=2)
    """,
    "multi_gpu_model where it still is": """
        try:
            from keras.utils import multi_gpu_model
        except ImportError:
            multi_gpu_model = None
        if multi_gpu_model:
            multi_gpu_model(model, gpus=2)
    """,
    "somebody's own multi_gpu_model": """
        import keras
        from mylib import multi_gpu_model
        multi_gpu_model(keras.Sequential([]), 2)
    """,
    # environment variables
    "backend first": """
        import os
        os.environ["KERAS_BACKEND"] = "torch"
        import keras
        os.environ["KERAS_BACKEND"] = "jax"
    """,
    "backend for children": """
        import os, subprocess
        import keras
        os.environ["KERAS_BACKEND"] = "jax"
        subprocess.run(["python", "train.py"])
    """,
    "backend tensorflow after tensorflow": """
        import os
        import tensorflow as tf
        os.environ["KERAS_BACKEND"] = "tensorflow"
        import keras
    """,
    "backend after tf_keras": """
        import os
        import tf_keras
        os.environ["KERAS_BACKEND"] = "jax"
        import keras
    """,
    "keras imported on one way only": """
        import os
        if old:
            import keras
        else:
            os.environ["KERAS_BACKEND"] = "jax"
            import keras
    """,
    # memory growth
    "growth in one branch, tensors in the other": """
        import tensorflow as tf
        if train:
            tf.zeros(3)
        else:
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "a function with tensors that is not called before": """
        import tensorflow as tf
        def forward(x):
            return tf.matmul(x, tf.zeros((3, 3)))
        strategy_class = tf.distribute.MirroredStrategy
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        forward(tf.ones((3, 3)))
    """,
    "a generator that has not begun": """
        import tensorflow as tf
        def numbers():
            yield tf.zeros(3)
        later = numbers()
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "growth again": """
        import tensorflow as tf
        def setup():
            [tf.config.experimental.set_memory_growth(gpu, True) for gpu in tf.config.list_physical_devices("GPU")]
        setup()
        tf.constant(1)
        setup()
    """,
    "growth of each by number": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
        tf.config.experimental.set_memory_growth(gpus[1], True)
    """,
    "growth where one GPU is visible": """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth where one GPU was counted": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if len(gpus) == 1:
            tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth of the GPU of a Horovod process": """
        import horovod.tensorflow as hvd
        import tensorflow as tf
        hvd.init()
        gpus = tf.config.experimental.list_physical_devices("GPU")
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        tf.config.experimental.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    """,
    # strategies and scopes
    "a scope through an exit stack": """
        import contextlib, tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with contextlib.ExitStack() as stack:
            stack.enter_context(strategy.scope())
            model = tf.keras.Sequential([])
        model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "built through an exit stack, compiled in a block": """
        import contextlib, tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        stack = contextlib.ExitStack()
        stack.enter_context(strategy.scope())
        model = tf.keras.Sequential([])
        with strategy.scope():
            model.compile(tf.keras.optimizers.Adam(), "mse")
    """,
    "built in a block, compiled through an exit stack": """
        import contextlib, tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
        with contextlib.suppress(KeyError):
            stack.enter_context(strategy.scope())
        model.compile(tf.keras.optimizers.Adam(), "mse")
    """,
    "a strategy made after the training": """
        import tensorflow as tf
        model = tf.keras.Sequential([])
        model.compile("adam", "mse")
        model.fit(x)
        strategy = tf.distribute.MirroredStrategy()
    """,
    "a module whose function others call": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def train(data):
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
            model.fit(data)
    """,
    "a scope of somebody's context manager": """
        import contextlib, tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        @contextlib.contextmanager
        def everywhere():
            with strategy.scope():
                yield
        with everywhere():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "a strategy handed to a trainer": """
        import tensorflow as tf
        from mylib import Trainer
        strategy = tf.distribute.MirroredStrategy()
        model = tf.keras.Sequential([])
        trainer = Trainer(model, strategy)
        model.compile("adam", "mse")
        model.fit(x)
    """,
    "a strategy set for good": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        tf.distribute.experimental_set_strategy(strategy)
        model = tf.keras.Sequential([])
        model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "a library's function may be called in a scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def train(data):
            model = tf.keras.Sequential([])
            model.compile(tf.keras.optimizers.Adam(), "mse")
            model.fit(data)
        run_in(strategy.scope, train)
    """,
    "a scope or none": """
        import contextlib, tensorflow as tf
        scope = tf.distribute.MirroredStrategy().scope() if many else contextlib.nullcontext()
        with scope:
            model = tf.keras.Sequential([])
            model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "one device": """
        import tensorflow as tf
        strategy = tf.distribute.OneDeviceStrategy("/gpu:0")
        model = tf.keras.Sequential([])
        model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "a teacher beside the strategy": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        teacher = tf.keras.Sequential([])
        teacher.compile(tf.keras.optimizers.Adam(), "mse")
        teacher.fit(x)
        with strategy.scope():
            student = tf.keras.Sequential([])
            student.compile(tf.keras.optimizers.Adam(), "mse")
        student.fit(x)
    """,
    "sklearn's fit": """
        import tensorflow as tf
        from sklearn.linear_model import LogisticRegression
        strategy = tf.distribute.MirroredStrategy()
        model = LogisticRegression()
        model.fit(x, y)
    """,
    "several workers on Keras 2": """
        import os
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        import keras, tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "one GPU's batch on one GPU": """
        import tensorflow as tf
        batch_size_per_gpu = 8
        strategy = tf.distribute.MirroredStrategy(["/gpu:0"])
        d = strategy.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(batch_size_per_gpu))
    """,
    # devices, memory limits, processes
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
    "spawned": """
        import multiprocessing as mp
        import tensorflow as tf
        def work(): tf.zeros(3)
        if __name__ == "__main__":
            tf.constant(1)
            context = mp.get_context("spawn")
            context.Process(target=work).start()
    """,
    "forked before": """
        import multiprocessing as mp
        import tensorflow as tf
        def work(): tf.zeros(3)
        process = mp.Process(target=work)
        process.start()
        tf.constant(1)
    """,
    "forked children without TensorFlow": """
        import multiprocessing as mp
        import tensorflow as tf
        def download(url): return fetch(url)
        tf.constant(1)
        with mp.Pool(4) as pool:
            pool.map(download, urls)
    """,
}


@pytest.mark.parametrize("name", QUIET)
def test_quiet(name):
    text = textwrap.dedent(QUIET[name])
    assert [(problem.line, problem.code, problem.message) for problem in lint_text(text, RULES)] == []
    script = Script(ast.parse(text))  # every rule, also where its words do not stand in the text
    assert [list(rule.check(script)) for rule in RULES if list(rule.check(script))] == []


def test_there_are_enough():
    assert len(QUIET) >= 60
