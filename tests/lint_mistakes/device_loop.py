"""Replicas built by hand: loops over GPUs under tf.device."""

PROGRAMS = {
    "percent": """
        import tensorflow as tf
        for i in range(2):
          with tf.device("/gpu:%d" % i):
            with tf.GradientTape() as t: l=f(m,x)
    """,
    "format": """
        import tensorflow as tf
        for i in range(2):
          with tf.device("/device:GPU:{}".format(i)):
            g=tf.gradients(l, v)
    """,
    "concat": """
        import tensorflow as tf
        for i in range(2):
          with tf.device("/gpu:" + str(i)):
            with tf.GradientTape() as t: pass
    """,
    "enumerate gpus": """
        import tensorflow as tf
        for i, g in enumerate(tf.config.list_logical_devices("GPU")):
          with tf.device(g.name):
            with tf.GradientTape() as t: pass
    """,
    "name var": """
        import tensorflow as tf
        for i in range(2):
          dev=f"/gpu:{i}"
          with tf.device(dev):
            grads=opt.compute_gradients(l)
    """,
    "step fn": """
        import tensorflow as tf
        def step(b):
          with tf.GradientTape() as t:
            l=m(b)
          return t.gradient(l, v)
        for i in range(2):
          with tf.device(f"/gpu:{i}"):
            g.append(step(b[i]))
    """,
    "comprehension": """
        import tensorflow as tf
        def step(i):
          with tf.device(f"/gpu:{i}"):
            with tf.GradientTape() as t: pass
        [step(i) for i in range(4)]
    """,
}
