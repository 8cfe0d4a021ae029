"""Memory growth of the first GPU only, where the others are visible too."""

PROGRAMS = {
    "nested call": """
        import tensorflow as tf
        tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)
    """,
    "try": """
        import tensorflow as tf
        p=tf.config.experimental.list_physical_devices("GPU")
        try:
          tf.config.experimental.set_memory_growth(p[0], True)
        except:
          pass
    """,
    "len": """
        import tensorflow as tf
        p=tf.config.list_physical_devices("GPU")
        if len(p) > 0:
          tf.config.experimental.set_memory_growth(p[0], True)
    """,
    "device_type kw": """
        import tensorflow as tf
        p=tf.config.list_physical_devices(device_type="GPU")
        tf.config.experimental.set_memory_growth(device=p[0], enable=True)
    """,
    "unpack": """
        import tensorflow as tf
        gpu, *_ = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpu, True)
    """,
    "-1": """
        import tensorflow as tf
        p=tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(p[-1], True)
    """,
    "a slice of one": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        for gpu in gpus[:1]:
            tf.config.experimental.set_memory_growth(gpu, True)
    """,
}
