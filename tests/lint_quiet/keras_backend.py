"""KERAS_BACKEND set in time, again, or for somebody else."""

PROGRAMS = {
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
    "keras_core after tf": """
        import os
        import tensorflow as tf
        os.environ["KERAS_BACKEND"] = "jax"
        import keras_core as keras
    """,
    "keras_core after tf.keras": """
        import os
        from tensorflow import keras as tfk
        os.environ["KERAS_BACKEND"] = "torch"
        import keras_core
    """,
    "six reload": """
        import os
        import six
        from keras import backend as K
        def set_backend(b):
            os.environ["KERAS_BACKEND"] = b
            six.moves.reload_module(K)
    """,
    "type checking": """
        from typing import TYPE_CHECKING
        import os
        if TYPE_CHECKING:
            import keras
        os.environ["KERAS_BACKEND"] = "jax"
        import keras
    """,
    "backend in two cells, same": """
        import os
        if "KERAS_BACKEND" not in os.environ:
            os.environ["KERAS_BACKEND"] = "jax"
        import keras
        os.environ["KERAS_BACKEND"] = "jax"
    """,
    "keras imported in try/except of backend": """
        import os
        try:
            import keras
        except ImportError:
            os.environ["KERAS_BACKEND"] = "torch"
            import keras
    """,
    "the program starts itself again": """
        import os, sys
        import keras
        if keras.backend.backend() != "jax":
            os.environ["KERAS_BACKEND"] = "jax"
            os.execve(sys.executable, [sys.executable, *sys.argv], os.environ)
        model = keras.Sequential([keras.layers.Dense(1)])
    """,
    "workers of joblib": """
        import os
        import tensorflow as tf
        from joblib import Parallel, delayed
        os.environ["KERAS_BACKEND"] = "jax"
        Parallel(n_jobs=2)(delayed(train)(i) for i in range(2))
    """,
    "workers of Ray": """
        import os
        import keras
        import ray
        os.environ["KERAS_BACKEND"] = "torch"
        ray.init()
    """,
    "a function that something else calls before the import": """
        import os
        def choose(name):
            os.environ["KERAS_BACKEND"] = name
        list(map(choose, ["jax"]))
        import keras
    """,
}
