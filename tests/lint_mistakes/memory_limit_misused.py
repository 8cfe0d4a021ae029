"""memory_limit read or set on a device that has no such attribute."""

PROGRAMS = {
    "set": """
        import tensorflow as tf
        g=tf.config.list_physical_devices("GPU")[0]
        g.memory_limit=3
    """,
    "loop": """
        import tensorflow as tf
        for g in tf.config.experimental.list_physical_devices("GPU"):
          print(g.name, g.memory_limit)
    """,
    "comp": """
        import tensorflow as tf
        print([g.memory_limit for g in tf.config.list_physical_devices()])
    """,
    "fn": """
        import tensorflow as tf
        def f(gpu): gpu.memory_limit = 1024
        gpus=tf.config.list_physical_devices("GPU")
        if gpus:
          f(gpus[0])
    """,
    "f-string": """
        import tensorflow as tf
        gpus=tf.config.list_logical_devices("GPU")
        for i in range(len(gpus)):
          print(f"{gpus[i].memory_limit}")
    """,
    "set by its name": """
        import tensorflow as tf
        for gpu in tf.config.list_physical_devices("GPU"):
            setattr(gpu, "memory_limit", 4096)
    """,
}
