"""Processes that are spawned, forked in time, or do without the GPU."""

PROGRAMS = {
    "spawned": """
        import multiprocessing as mp
        import tensorflow as tf
        def work(): tf.zeros(3)
        if __name__ == "__main__":
            tf.constant(1)
            context = mp.get_context("spawn")
            context.Process(target=work).start()
    """,
    "forked before": """
        import multiprocessing as mp
        import tensorflow as tf
        def work(): tf.zeros(3)
        process = mp.Process(target=work)
        process.start()
        tf.constant(1)
    """,
    "forked children without TensorFlow": """
        import multiprocessing as mp
        import tensorflow as tf
        def download(url): return fetch(url)
        tf.constant(1)
        with mp.Pool(4) as pool:
            pool.map(download, urls)
    """,
    "pool writes tfrecords": """
        from multiprocessing import Pool
        import tensorflow as tf
        def write(name):
            with tf.io.TFRecordWriter(name) as w:
                w.write(tf.train.Example().SerializeToString())
        x = tf.constant(3)
        with Pool(4) as p:
            p.map(write, ["a", "b"])
    """,
    "pool loads images": """
        from multiprocessing import Pool
        import tensorflow as tf
        from tensorflow.keras.preprocessing.image import load_img, img_to_array
        def load(name):
            return img_to_array(load_img(name))
        m = tf.keras.applications.ResNet50()
        with Pool(4) as p:
            x = p.map(load, ["a", "b"])
    """,
    "fork and exec": """
        import os
        import tensorflow as tf
        tf.zeros(3)
        if os.fork() == 0:
            os.execv("/bin/ls", ["ls"])
    """,
    "child hides gpu": """
        import multiprocessing as mp, os
        import tensorflow as tf
        def work():
            os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
            import tensorflow as tf2
            print(1)
        tf.zeros(3)
        mp.Process(target=work).start()
    """,
    "thread pool": """
        from multiprocessing.pool import ThreadPool
        from multiprocessing.dummy import Pool, Process
        import tensorflow as tf
        def work(i): return tf.constant(i)
        tf.zeros(3)
        ThreadPool(3).map(work, [1]); Pool(3).map(work, [1]); Process(target=work).start()
    """,
    "after a model without weights": """
        import multiprocessing
        import tensorflow as tf
        def work(i):
            return tf.reduce_sum(tf.ones(i))
        if __name__ == "__main__":
            model = tf.keras.Sequential()
            model.add(tf.keras.layers.Dense(8))
            multiprocessing.Process(target=work, args=(3,)).start()
            model.build((None, 4))
    """,
    "children that a table of commands starts before the first tensor": """
        import multiprocessing
        import tensorflow as tf
        def work(n):
            print(tf.reduce_sum(tf.ones(n)))
        def start():
            multiprocessing.Process(target=work, args=(3,)).start()
        COMMANDS = {"start": start}
        COMMANDS["start"]()
        x = tf.zeros(3)
    """,
}
