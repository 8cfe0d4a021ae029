"""More programs in which nothing is wrong, as people write them: about versions, processes, devices and batches."""

import textwrap

import pytest

from gpucheck.lint.pages import load_rules
from gpucheck.lint.runner import lint_text

RULES = load_rules()

QUIET = {
    "keras_core after tf": """
        import os
        import tensorflow as tf
        os.environ["KERAS_BACKEND"] = "jax"
        import keras_core as keras
    """,
    "keras_core after tf.keras": """
        import os
        from tensorflow import keras as tfk
        os.environ["KERAS_BACKEND"] = "torch"
        import keras_core
    """,
    "six reload": """
        import os
        import six
        from keras import backend as K
        def set_backend(b):
            os.environ["KERAS_BACKEND"] = b
            six.moves.reload_module(K)
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
    "per worker on mirrored": """
        import tensorflow as tf
        per_worker_batch_size = 64
        s = tf.distribute.MirroredStrategy()
        d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(per_worker_batch_size))
    """,
    "multi_gpu_batch_size": """
        import tensorflow as tf
        multi_gpu_batch_size = 64
        s = tf.distribute.MirroredStrategy()
        d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(multi_gpu_batch_size))
    """,
    "gpu_batch_size": """
        import tensorflow as tf
        cpu_batch_size, gpu_batch_size = 8, 64
        s = tf.distribute.MirroredStrategy()
        d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(gpu_batch_size))
    """,
    "per device with a list of one": """
        import tensorflow as tf
        per_gpu_batch = 64
        gpus = tf.config.list_physical_devices("GPU")
        s = tf.distribute.MirroredStrategy(devices=[g.name for g in gpus[:1]])
        d = s.experimental_distribute_dataset(tf.data.Dataset.range(9).batch(per_gpu_batch))
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
    "growth eager off": """
        import tensorflow as tf
        tf.compat.v1.disable_eager_execution()
        a = tf.constant(1)
        for g in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(g, True)
    """,
    "growth in a graph": """
        import tensorflow as tf
        with tf.Graph().as_default():
            a = tf.constant(1)
        for g in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(g, True)
    """,
    "growth assert one": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        assert len(gpus) == 1
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth raise unless one": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        if len(gpus) != 1:
            raise RuntimeError("one GPU please")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth environ update": """
        import os
        os.environ.update({"CUDA_VISIBLE_DEVICES": "0"})
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth environ update kw": """
        import os
        os.environ.update(CUDA_VISIBLE_DEVICES="0")
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth environ |=": """
        import os
        os.environ |= {"CUDA_VISIBLE_DEVICES": "0"}
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth index of slice": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")[:1]
        tf.config.set_visible_devices(gpus, "GPU")
        tf.config.experimental.set_memory_growth(gpus[0], True)
    """,
    "growth of each, unrolled over tries": """
        import tensorflow as tf
        gpus = tf.config.list_physical_devices("GPU")
        try:
            tf.config.experimental.set_memory_growth(gpus[0], True)
            tf.config.experimental.set_memory_growth(gpus[1], True)
        except: pass
    """,
    "federated simulation": """
        import tensorflow as tf
        def build(): return tf.keras.Sequential([tf.keras.layers.Dense(1)])
        weights = None
        for i in range(4):
            with tf.device(f"/gpu:{i}"):
                model = build()
                model.compile("sgd", "mse")
                model.set_weights(weights)
                model.fit(x[i], y[i])
    """,
    "independent training, one per GPU": """
        import tensorflow as tf
        for i, config in enumerate(configs):
            with tf.device(f"/gpu:{i}"):
                model = tf.keras.Sequential([tf.keras.layers.Dense(config)])
                opt = tf.keras.optimizers.Adam()
                for x, y in data:
                    with tf.GradientTape() as tape:
                        loss = f(model(x), y)
                    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    """,
    "device of a loop's batch: config string": """
        import tensorflow as tf
        for epoch in range(3):
            for batch in data:
                with tf.device(batch.device):
                    with tf.GradientTape() as t: pass
    """,
    "scope stored and entered by function": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        scope = strategy.scope
        with scope():
            model = tf.keras.Sequential([])
            model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "decorated in scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def in_scope(f):
            def inner(*a):
                with strategy.scope():
                    return f(*a)
            return inner
        @in_scope
        def build():
            m = tf.keras.Sequential([])
            m.compile(tf.keras.optimizers.Adam(), "mse")
            return m
        model = build()
        model.fit(x)
    """,
    "compile by load in scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            opt = tf.keras.optimizers.Adam()
        model.compile(optimizer=opt, loss=tf.keras.losses.MeanSquaredError(), metrics=["mae"])
    """,
    "baseline single then multi": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def build():
            m = tf.keras.Sequential([]); m.compile(tf.keras.optimizers.Adam(), "mse"); return m
        single = build()
        single.fit(x)
        with strategy.scope():
            multi = build()
        multi.fit(x)
    """,
    "strategy made, used only if several": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        if strategy.num_replicas_in_sync > 1:
            train_distributed(strategy)
        else:
            m = tf.keras.Sequential([]); m.compile("adam", "mse"); m.fit(x)
    """,
    "strategy behind flag": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy() if FLAGS.multi else None
        m = tf.keras.Sequential([]); m.compile("adam", "mse"); m.fit(x)
    """,
    "strategy returned to a base class": """
        import tensorflow as tf
        from lib import Base
        class T(Base):
            def __init__(self):
                self.strategy = tf.distribute.MirroredStrategy()
                self.model = self.build()
            def build(self):
                m = tf.keras.Sequential([]); m.compile("adam", "mse"); return m
            def go(self):
                self.model.fit(x)
        T().go()
    """,
    "softmax then wrapped": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        inputs = keras.Input((4,))
        x = keras.layers.Dense(3, activation="softmax", dtype=keras.mixed_precision.Policy("float32"))(inputs)
        m = keras.Model(inputs, x)
        m.compile("adam", "mse")
    """,
    "policy of context": """
        import keras
        keras.config.set_dtype_policy("mixed_bfloat16")
        inputs = keras.Input((4,))
        y = keras.layers.Dense(3, activation="softmax")(inputs)
        y = keras.ops.cast(y, "float32")
        m = keras.Model(inputs, y)
        m.compile("adam", "mse")
    """,
    "generator only batched": """
        import tensorflow as tf
        d = tf.data.Dataset.from_generator(g, output_signature=s)
        d = d.batch(8)
        m = tf.keras.Sequential([])
        m.fit(x=d, epochs=50)
    """,
    "generator small val": """
        import tensorflow as tf
        d = tf.data.Dataset.from_generator(g, output_signature=s).batch(8)
        opts = tf.data.Options()
        d = d.apply(tf.data.experimental.prefetch_to_device("/gpu:0"))
        m = tf.keras.Sequential([])
        m.fit(d)
    """,
    "tpu cardinality": """
        import tensorflow as tf
        strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver())
        with strategy.scope():
            m = tf.keras.Sequential([]); m.compile("adam", "mse")
        d = tf.data.Dataset.from_tensor_slices(x).batch(8, **kw)
        m.fit(d)
        m.fit(x, y, batch_size=128)
    """,
    "mwms legacy env cli": """
        import os
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
        import keras, tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "mwms legacy env update": """
        import os
        os.environ.update(TF_USE_LEGACY_KERAS="1")
        import keras, tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
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
    "memory_limit of hasattr": """
        import tensorflow as tf
        for g in tf.config.list_physical_devices("GPU"):
            if hasattr(g, "memory_limit"):
                print(g.memory_limit)
    """,
    "type checking": """
        from typing import TYPE_CHECKING
        import os
        if TYPE_CHECKING:
            import keras
        os.environ["KERAS_BACKEND"] = "jax"
        import keras
    """,
    "backend in two cells, same": """
        import os
        if "KERAS_BACKEND" not in os.environ:
            os.environ["KERAS_BACKEND"] = "jax"
        import keras
        os.environ["KERAS_BACKEND"] = "jax"
    """,
    "keras imported in try/except of backend": """
        import os
        try:
            import keras
        except ImportError:
            os.environ["KERAS_BACKEND"] = "torch"
            import keras
    """,
    "the guide of Keras on TFRecords: a TPU, or whatever is there": """
        import tensorflow as tf
        from functools import partial
        try:
            tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
            strategy = tf.distribute.TPUStrategy(tpu)
        except:
            strategy = tf.distribute.get_strategy()
        def load_dataset(filenames, labeled=True):
            ignore_order = tf.data.Options()
            ignore_order.experimental_deterministic = False
            dataset = tf.data.TFRecordDataset(filenames)
            dataset = dataset.with_options(ignore_order)
            return dataset.map(partial(read_tfrecord, labeled=labeled), num_parallel_calls=tf.data.AUTOTUNE)
        def get_dataset(filenames, labeled=True):
            dataset = load_dataset(filenames, labeled=labeled).shuffle(2048)
            return dataset.prefetch(buffer_size=tf.data.AUTOTUNE).batch(64)
        train_dataset = get_dataset(tf.io.gfile.glob("train*.tfrec"))
        image_batch, label_batch = next(iter(train_dataset))
        def make_model():
            base_model = tf.keras.applications.Xception(include_top=False)
            inputs = tf.keras.layers.Input([1024, 1024, 3])
            x = tf.keras.layers.GlobalAveragePooling2D()(base_model(inputs))
            model = tf.keras.Model(inputs=inputs, outputs=tf.keras.layers.Dense(1, activation="sigmoid")(x))
            model.compile(optimizer=tf.keras.optimizers.Adam(), loss="binary_crossentropy", metrics=tf.keras.metrics.AUC(name="auc"))
            return model
        with strategy.scope():
            model = make_model()
        history = model.fit(train_dataset, epochs=2)
    """,
    "the guide of Keras on distributed embeddings": """
        import os
        import libtpu
        os.environ["PJRT_DEVICE"] = "TPU"
        import tensorflow as tf
        os.environ["KERAS_BACKEND"] = "tensorflow"
        import keras
        import keras_rs
        import tensorflow_datasets as tfds
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
        topology = tf.tpu.experimental.initialize_tpu_system(resolver)
        assignment = tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=8)
        strategy = tf.distribute.TPUStrategy(resolver, experimental_device_assignment=assignment)
        PER_REPLICA_BATCH_SIZE = 256
        BATCH_SIZE = PER_REPLICA_BATCH_SIZE * strategy.num_replicas_in_sync
        ratings = tfds.load("movielens/100k-ratings", split="train").map(preprocess).shuffle(100_000)
        train = ratings.take(80_000).batch(BATCH_SIZE, drop_remainder=True).cache()
        class EmbeddingModel(keras.Model):
            def __init__(self):
                super().__init__()
                self.ratings = keras.Sequential([keras.layers.Dense(1)])
        with strategy.scope():
            model = EmbeddingModel()
            model.compile(loss=keras.losses.MeanSquaredError(), optimizer="adagrad")
        with strategy.scope():
            model.fit(train, epochs=5)
    """,
    "somebody's own flag": """
        import tensorflow as tf
        from mylib.compat import IS_TF_1
        def run():
            if not IS_TF_1:
                return None
            return tf.Session()
    """,
}


@pytest.mark.parametrize("name", QUIET)
def test_quiet(name):
    text = textwrap.dedent(QUIET[name])
    assert [(problem.line, problem.code) for problem in lint_text(text, RULES)] == []
