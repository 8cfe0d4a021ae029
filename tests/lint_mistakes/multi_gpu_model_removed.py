"""multi_gpu_model by each of its import paths."""

PROGRAMS = {
    "K.utils": """
        import keras
        m=keras.utils.multi_gpu_model(m,gpus=2)
    """,
    "in fn": """
        from keras.utils import multi_gpu_model
        def f(m, n):
          if n > 1:
            m=multi_gpu_model(m,gpus=n)
          return m
    """,
    "training_utils": """
        from keras.utils.training_utils import multi_gpu_model as mg
        mg(m)
    """,
    "tf.python": """
        from tensorflow.python.keras.utils.multi_gpu_utils import multi_gpu_model
        multi_gpu_model(m,2)
    """,
    "star": """
        from keras.utils import *
        multi_gpu_model(m,2)
    """,
    "np_utils": """
        from keras.utils import np_utils, multi_gpu_model
    """,
}
