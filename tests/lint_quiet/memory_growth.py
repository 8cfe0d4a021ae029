"""Memory growth set before any tensor, of every GPU that the program sees."""

PROGRAMS = {
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
    "growth of each, unrolled over tries": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        try:
            tf.config.experimental.set_memory_growth(gpus[0], True)
            tf.config.experimental.set_memory_growth(gpus[1], True)
        except: pass
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
    "growth assert one": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        assert len(gpus) == 1
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth raise unless one": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if len(gpus) != 1:
            raise RuntimeError("one GPU please")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth environ update": """
        import os
        os.environ.update({"CUDA_VISIBLE_DEVICES": "0"})
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth environ update kw": """
        import os
        os.environ.update(CUDA_VISIBLE_DEVICES="0")
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth environ |=": """
        import os
        os.environ |= {"CUDA_VISIBLE_DEVICES": "0"}
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth index of slice": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")[:1]
        tf.config.set_visible_devices(gpus, "GPU")
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
    "growth eager off": """
        import tensorflow as tf
        tf.compat.v1.disable_eager_execution()
        a = tf.constant(1)
        for g in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(g, True)
    """,
    "growth in a graph": """
        import tensorflow as tf
        with tf.Graph().as_default():
            a = tf.constant(1)
        for g in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(g, True)
    """,
    "tests that expect it to be refused": """
        import pytest
        import tensorflow as tf
        def test_growth_is_refused_late():
            tf.constant(1)
            with pytest.raises(RuntimeError):
                tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)
        class Growth(tf.test.TestCase):
            def test_late(self):
                tf.constant(1)
                gpus = tf.config.list_physical_devices("GPU")
                with self.assertRaisesRegex(RuntimeError, "initialized"):
                    tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "those of a slice, the others hidden": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.set_visible_devices(gpus[:1], "GPU")
        for gpu in gpus[:1]:
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "slices that may be all": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus[:count]:
            tf.config.experimental.set_memory_growth(gpu, True)
        for gpu in gpus[1:]:
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "a function that has returned before it lists the devices": """
        import sys
        import tensorflow as tf
        def show(verbose):
            if not verbose:
                return
            print(tf.config.list_logical_devices("GPU"))
        def main():
            verbose = "-v" in sys.argv
            if verbose:
                show(verbose)
                return
            show(verbose)
            for g in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(g, True)
        main()
    """,
    "models without weights yet": """
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(8)])
        model.add(tf.keras.layers.Dense(1))
        model.build()
        flat = tf.keras.Sequential()
        flat.add(tf.keras.layers.Flatten(input_shape=(28, 28)))
        late = tf.keras.Sequential()
        if deep:
            late.add(tf.keras.layers.Dense(8, input_shape=(4,)))
        late.add(tf.keras.layers.Dense(1))
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "weights made afterwards": """
        import tensorflow as tf
        model = tf.keras.Sequential()
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        model.add(tf.keras.layers.Dense(1, input_shape=(4,)))
        model.build((None, 4))
    """,
    "a model that is built on JAX": """
        import os
        os.environ["KERAS_BACKEND"] = "jax"
        import keras
        import tensorflow as tf
        model = keras.Sequential([keras.layers.Dense(1)])
        model.build((None, 8))
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "set in each item of a list, by map": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        list(map(lambda gpu: tf.config.experimental.set_memory_growth(gpu, True), gpus))
        strategy = tf.distribute.MirroredStrategy()
    """,
    "set in a thread that has ended": """
        import threading
        import tensorflow as tf
        def grow():
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        first = threading.Thread(target=grow)
        first.start()
        first.join()
        x = tf.zeros(3)
    """,
    "set in a context manager": """
        import tensorflow as tf
        class Growing:
            def __enter__(self):
                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)
            def __exit__(self, *error):
                pass
        with Growing():
            x = tf.ones((2, 2))
    """,
    "set in a Ray worker": """
        import ray
        import tensorflow as tf
        print(len(tf.config.list_logical_devices("GPU")), "GPUs on the head node")
        @ray.remote(num_gpus=1)
        def train(seed):
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        ray.get([train.remote(seed) for seed in range(3)])
    """,
}
