"""TensorFlow 1 on purpose, or whichever version is there: sessions, graphs, multi_gpu_model."""

PROGRAMS = {
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
    "somebody's own flag": """
        import tensorflow as tf
        from mylib.compat import IS_TF_1
        def run():
            if not IS_TF_1:
                return None
            return tf.Session()
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
    "IS_TF_1": """
        import tensorflow as tf
        from packaging import version
        IS_TF_1 = version.parse(tf.__version__).major == 1
        if IS_TF_1:
            c = tf.ConfigProto()
            tf.Session(config=c)
    """,
    "major": """
        import tensorflow as tf
        major = int(tf.__version__.split(".")[0])
        if major < 2:
            tf.Session()
    """,
    "old_tf flag": """
        import tensorflow as tf
        legacy = tf.__version__[0] == "1"
        if legacy:
            tf.Session()
    """,
    "early return": """
        import tensorflow as tf
        def run():
            if tf.__version__.startswith("2"):
                return eager()
            with tf.Session() as s:
                s.run(x)
        run()
    """,
    "exit if 2": """
        import tensorflow as tf
        if tf.__version__ >= "2":
            raise SystemExit("needs TensorFlow 1")
        tf.Session()
    """,
    "assert 1": """
        import tensorflow as tf
        assert tf.__version__.startswith("1."), "needs 1.x"
        tf.Session()
    """,
    "alias trick": """
        import tensorflow as tf
        if tf.__version__.startswith("2"):
            tf = tf.compat.v1
        tf.Session()
    """,
    "alias trick 2": """
        try:
            import tensorflow.compat.v1 as tf
        except ImportError:
            import tensorflow as tf
        tf.Session()
    """,
    "monkey patch": """
        import tensorflow as tf
        tf.Session = tf.compat.v1.Session
        tf.ConfigProto = tf.compat.v1.ConfigProto
        tf.Session(config=tf.ConfigProto())
    """,
    "ifexp": """
        import tensorflow as tf
        Session = tf.Session if hasattr(tf, "Session") else tf.compat.v1.Session
        s = tf.Session() if tf.__version__[0] == "1" else None
    """,
    "python.keras set_session": """
        import tensorflow as tf
        from tensorflow.python.keras.backend import set_session
        set_session(tf.compat.v1.Session())
    """,
    "python.keras multi gpu": """
        import tensorflow as tf
        sess = tf.compat.v1.Session()
        tf.compat.v1.keras.backend.set_session(sess)
    """,
    "session or": """
        import tensorflow as tf
        if hasattr(tf, "compat") and hasattr(tf.compat, "v1"):
            cfg = tf.compat.v1.ConfigProto()
        else:
            cfg = tf.ConfigProto()
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
    "multi_gpu hasattr": """
        import tensorflow as tf
        if hasattr(tf.keras.utils, "multi_gpu_model"):
            m = tf.keras.utils.multi_gpu_model(m, 2)
    """,
    "multi_gpu version": """
        import tensorflow as tf
        if tf.__version__ < "2.2":
            from tensorflow.keras.utils import multi_gpu_model
            m = multi_gpu_model(m, 2)
    """,
    "multi_gpu getattr": """
        import keras
        multi = getattr(keras.utils, "multi_gpu_model", None)
        if multi: multi(m, 2)
    """,
    "names put back one by one": """
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1
        for name in ("Session", "ConfigProto", "GPUOptions"):
            setattr(tf, name, getattr(tf1, name))
        sess = tf.Session(config=tf.ConfigProto())
    """,
    "a name put back by its name": """
        import tensorflow as tf
        setattr(tf, "Session", tf.compat.v1.Session)
        sess = tf.Session()
    """,
    "a test that it is gone": """
        import pytest
        import tensorflow as tf
        def test_gone():
            with pytest.raises(AttributeError):
                tf.Session()
    """,
    "a session for Keras 2": """
        # TensorFlow 2.9 from the cluster's modules
        import tensorflow as tf
        config = tf.compat.v1.ConfigProto()
        config.gpu_options.allow_growth = True
        tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))
    """,
    "a session for Keras 2 by the environment": """
        import os
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        import tensorflow as tf
        tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=tf.compat.v1.ConfigProto()))
    """,
    "a session for Keras in graphs": """
        import tensorflow.compat.v1 as tf
        from tensorflow.compat.v1.keras import backend as K
        tf.disable_v2_behavior()
        K.set_session(tf.Session(config=tf.ConfigProto()))
    """,
    "a session for Keras if it takes one": """
        import tensorflow as tf
        try:
            from tensorflow.compat.v1.keras.backend import set_session
            set_session(tf.compat.v1.Session(config=tf.compat.v1.ConfigProto()))
        except ImportError:
            pass
        if hasattr(tf.keras.backend, "set_session"):
            tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=tf.compat.v1.ConfigProto()))
    """,
}
