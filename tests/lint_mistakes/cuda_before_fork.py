"""GPUs used, then children forked that use them too."""

PROGRAMS = {
    "pool": """
        from multiprocessing import Pool
        import tensorflow as tf
        m=tf.keras.models.load_model("a")
        x=tf.constant(1)
        def p(i): return m.predict(i)
        with Pool(2) as q: q.map(p, [1])
    """,
    "process": """
        import multiprocessing as mp
        import tensorflow as tf
        def train(i):
          m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
          m.fit(i)
        if __name__=="__main__":
          tf.zeros(3)
          ps=[mp.Process(target=train, args=(i,)) for i in range(2)]
          [q.start() for q in ps]
    """,
    "executor": """
        from concurrent.futures import ProcessPoolExecutor
        import tensorflow as tf
        def f(x): return tf.matmul(x,x)
        tf.ones(3)
        with ProcessPoolExecutor() as e:
          e.map(f, [1])
    """,
    "ctx fork": """
        import multiprocessing
        import tensorflow as tf
        def f(): tf.zeros(3)
        tf.zeros(3)
        c=multiprocessing.get_context("fork")
        c.Process(target=f).start()
    """,
    "helper": """
        import multiprocessing
        import tensorflow as tf
        def build(): return tf.keras.Sequential([tf.keras.layers.Dense(1)])
        def f(): build().fit(1)
        tf.distribute.MirroredStrategy()
        multiprocessing.Process(target=f).start()
    """,
    "method": """
        import multiprocessing
        import tensorflow as tf
        class T:
          def run(self): tf.zeros(3)
        t=T()
        tf.zeros(1)
        multiprocessing.Process(target=t.run).start()
    """,
    "lambda": """
        import multiprocessing
        import tensorflow as tf
        tf.zeros(1)
        multiprocessing.Process(target=lambda: tf.zeros(3)).start()
    """,
    "subclass": """
        import multiprocessing
        import tensorflow as tf
        class W(multiprocessing.Process):
          def run(self): tf.zeros(3)
        tf.zeros(1)
        W().start()
    """,
    "after a model is built": """
        from multiprocessing import Pool
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.build(input_shape=(None, 8))
        def predict(batch):
            return model.predict(batch)
        with Pool(4) as pool:
            pool.map(predict, batches)
    """,
    "after layers are added to a shape": """
        import multiprocessing
        import tensorflow as tf
        def work(i):
            return tf.reduce_sum(tf.ones(i))
        if __name__ == "__main__":
            model = tf.keras.models.Sequential()
            model.add(tf.keras.layers.Dense(8, input_dim=4))
            multiprocessing.Process(target=work, args=(3,)).start()
    """,
}
