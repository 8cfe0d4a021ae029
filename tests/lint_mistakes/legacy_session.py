"""GPUs configured through TensorFlow 1's sessions."""

PROGRAMS = {
    "with": """
        import tensorflow as tf
        with tf.Session() as s: pass
    """,
    "config": """
        import tensorflow as tf
        import keras
        c=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
        keras.backend.set_session(tf.Session(config=c))
    """,
    "K alias": """
        import keras.backend.tensorflow_backend as KTF
        import tensorflow as tf
        KTF.set_session(tf.Session())
    """,
    "interactive": """
        import tensorflow as tf
        sess=tf.InteractiveSession()
    """,
    "from": """
        from tensorflow import Session, ConfigProto
        s=Session(config=ConfigProto())
    """,
    "get_session": """
        from keras import backend as K
        s=K.get_session()
    """,
    "lower": """
        import tensorflow as tf
        def f(a=tf.Session()): pass
    """,
    "class attr": """
        import tensorflow as tf
        class A:
          def run(self):
            self.s=tf.Session()
    """,
    "something else is put back": """
        import tensorflow as tf
        setattr(tf, "ConfigProto", tf.compat.v1.ConfigProto)
        for name, value in options.items():
            setattr(tf.keras.backend, name, value)
        sess = tf.Session(config=tf.ConfigProto())
    """,
}
