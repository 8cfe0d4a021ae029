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
    "a session for Keras": """
        import tensorflow as tf
        config = tf.compat.v1.ConfigProto()
        config.gpu_options.allow_growth = True
        tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.fit(x, y)
    """,
    "a session for Keras, imported": """
        import tensorflow as tf
        from tensorflow.compat.v1.keras.backend import set_session
        def limit(share):
            config = tf.compat.v1.ConfigProto()
            config.gpu_options.per_process_gpu_memory_fraction = share
            sess = tf.compat.v1.Session(config=config)
            set_session(sess)
        limit(0.5)
    """,
    "a session for Keras' backend": """
        from tensorflow.compat.v1 import ConfigProto, InteractiveSession
        from tensorflow.compat.v1.keras import backend as K
        config = ConfigProto()
        config.gpu_options.allow_growth = True
        K.set_session(InteractiveSession(config=config))
    """,
}
