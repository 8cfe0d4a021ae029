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
    "variables of their own, gradients gathered": """
        import tensorflow as tf
        grads = []
        for i in range(4):
            with tf.device(f"/GPU:{i}"):
                w = tf.Variable(tf.ones([3, 3]))
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(w * batches[i])
                grads.append(tape.gradient(loss, [w]))
    """,
    "one variable for all": """
        import tensorflow as tf
        w = tf.Variable(tf.ones([3, 3]))
        for i in range(4):
            with tf.device(f"/GPU:{i}"):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(w * batches[i])
                w.assign_sub(tape.gradient(loss, w))
    """,
    "names beside batches": """
        import tensorflow as tf
        grads = []
        for device, (x, y) in zip(["/gpu:0", "/gpu:1"], batches):
            with tf.device(device):
                with tf.GradientTape() as tape:
                    loss = loss_fn(y, model(x))
                grads.append(tape.gradient(loss, model.trainable_variables))
    """,
    "names that are counted": """
        import tensorflow as tf
        GPUS = ("/device:GPU:0", "/device:GPU:1")
        def step(batches):
            for i, gpu in enumerate(GPUS):
                with tf.device(gpu), tf.GradientTape() as tape:
                    loss = loss_fn(model(batches[i]))
                yield tape.gradient(loss, model.trainable_variables)
    """,
    "names alone": """
        import tensorflow as tf
        for name in ["GPU:0", "GPU:1", "GPU:2"]:
            with tf.device(name):
                with tf.GradientTape() as tape:
                    loss = loss_fn(model(next(batches)))
                towers.append(tape.gradient(loss, model.trainable_variables))
    """,
}
