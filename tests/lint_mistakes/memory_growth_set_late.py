"""Memory growth asked for after something started the GPUs."""

PROGRAMS = {
    "functional model": """
        import tensorflow as tf
        i=tf.keras.Input((3,))
        m=tf.keras.Model(i, tf.keras.layers.Dense(1)(i))
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "sequential with input": """
        import tensorflow as tf
        m=tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "load_model": """
        import tensorflow as tf
        m=tf.keras.models.load_model("a.keras")
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "dataset": """
        import tensorflow as tf
        d=tf.data.TFRecordDataset("a")
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "cast": """
        import tensorflow as tf
        x=tf.cast(3, tf.float32)
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "in function after": """
        import tensorflow as tf
        def setup():
          gpus=tf.config.list_physical_devices("GPU")
          if gpus:
            for g in gpus: tf.config.experimental.set_memory_growth(g, True)
        def main():
          s=tf.distribute.MirroredStrategy()
          setup()
        main()
    """,
    "list comp": """
        import tensorflow as tf
        tf.random.normal((3,))
        [tf.config.experimental.set_memory_growth(g, True) for g in tf.config.list_physical_devices("GPU")]
    """,
    "strategy compat": """
        import tensorflow as tf
        s=tf.distribute.experimental.CentralStorageStrategy()
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "directory dataset": """
        import tensorflow as tf
        d=tf.keras.utils.image_dataset_from_directory("a")
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "tf.one_hot": """
        import tensorflow as tf
        d=tf.one_hot([1],3)
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "gen from_tensor_slices .map": """
        import tensorflow as tf
        d=tf.data.Dataset.from_tensor_slices([1]).map(lambda x: x)
        for g in tf.config.list_physical_devices("GPU"):
          tf.config.experimental.set_memory_growth(g, True)
    """,
    "after a function that returns late or raises": """
        import tensorflow as tf
        def show(verbose):
            if verbose is None:
                raise ValueError(verbose)
            print(tf.config.list_logical_devices("GPU"))
            if not verbose:
                return
            print("shown")
        def main(verbose):
            show(verbose)
            for g in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(g, True)
    """,
    "after a test expected something else": """
        import pytest
        import tensorflow as tf
        with pytest.raises(ValueError):
            tf.zeros(-1)
        tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("CPU")[0], True)
    """,
    "in a function with a decorator": """
        import functools
        import tensorflow as tf
        def logged(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                print(fn)
                return fn(*args, **kwargs)
            return wrapper
        @logged
        def setup(gpus):
            for gpu in gpus:
                tf.config.experimental.set_memory_growth(gpu, True)
        @logged
        def main():
            strategy = tf.distribute.MirroredStrategy()
            setup(gpus=tf.config.list_physical_devices("GPU"))
        main()
    """,
    "a model that is built": """
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
        model.build((None, 8))
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "layers added to a shape": """
        import tensorflow as tf
        from tensorflow.keras.layers import Conv2D, Dense, Flatten
        from tensorflow.keras.models import Sequential
        model = Sequential()
        model.add(Conv2D(8, 3, input_shape=(28, 28, 1)))
        model.add(Flatten())
        model.add(Dense(10))
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "layers added to an input": """
        import keras
        import tensorflow as tf
        def make():
            model = keras.Sequential()
            model.add(keras.Input((8,)))
            model.add(keras.layers.Dense(1))
            return model
        model = make()
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "in a function handed on after the start": """
        import threading
        import tensorflow as tf
        x = tf.zeros(3)
        def grow():
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        threading.Thread(target=grow).start()
    """,
}
