"""Each rule sees through aliases, functions, methods and classes: program, the lines that are found, and the code."""

import textwrap

import pytest

from gpucheck.lint.pages import load_rules
from gpucheck.lint.runner import lint_text

RULES = load_rules()
TF = "import tensorflow as tf\n"


def program(text):
    return textwrap.dedent(text).lstrip("\n")


FOUND = {
    "environ alias": (
        "backend-set-after-import",
        [3],
        'from os import environ\nimport tensorflow.keras\nenviron["KERAS_BACKEND"] = "jax"',
    ),
    "setdefault": (
        "backend-set-after-import",
        [3],
        'import os\nfrom tensorflow import keras\nos.environ.setdefault("KERAS_BACKEND", "torch")',
    ),
    "tensorflow alone": (
        "backend-set-after-import",
        [3],
        'import os\nimport tensorflow as tf\nos.environ["KERAS_BACKEND"] = "jax"',
    ),
    "through KerasHub": (
        "backend-set-after-import",
        [3],
        'import os\nimport keras_hub\nos.environ["KERAS_BACKEND"] = "tensorflow"',
    ),
    "growth after a tensor": (
        "memory-growth-set-late",
        [4],
        TF
        + 'a = tf.constant(1)\nfor g in tf.config.list_physical_devices("GPU"):\n  tf.config.experimental.set_memory_growth(g, True)',
    ),
    "growth after logical devices, in functions": (
        "memory-growth-set-late",
        [5],
        TF
        + program("""
        def show():
            print(tf.config.experimental.list_logical_devices("GPU"))
        def setup(gpus):
            for gpu in gpus: tf.config.experimental.set_memory_growth(gpu, True)
        def main():
            show()
            setup(tf.config.list_physical_devices("GPU"))
        if __name__ == "__main__":
            main()
        """),
    ),
    "growth late though the error is caught": (
        "memory-growth-set-late",
        [6],
        TF
        + program("""
        strategy = tf.distribute.MirroredStrategy()
        gpus = tf.config.list_physical_devices("GPU")
        try:
            for gpu in gpus:
                tf.config.experimental.set_memory_growth(gpu, True)
        except RuntimeError as error:
            print(error)
        """),
    ),
    "growth of the first GPU in a function": (
        "memory-growth-partial",
        [4],
        program("""
        from tensorflow import config
        def setup():
            devices = config.experimental.list_physical_devices("GPU")
            config.experimental.set_memory_growth(devices[0], enable=True)
        """),
    ),
    "growth after counting any": (
        "memory-growth-partial",
        [4],
        TF
        + 'd = tf.config.list_physical_devices("GPU")\nassert len(d) > 0\ntf.config.experimental.set_memory_growth(d[0], True)',
    ),
    "compiled inside, built outside": (
        "model-outside-scope",
        [2],
        TF
        + "m = tf.keras.Sequential([])\ns = tf.distribute.MirroredStrategy()\nwith s.scope():\n  m.compile(loss='mse')\nm.fit(x)",
    ),
    "built by a function outside": (
        "model-outside-scope",
        [5],
        program("""
        from tensorflow.distribute import MirroredStrategy
        from tensorflow.keras import Model, layers
        def make():
            inputs = layers.Input((4,))
            return Model(inputs, layers.Dense(1)(inputs))
        def main():
            strategy = MirroredStrategy()
            print(strategy)
            model = make()
            model.compile("adam", "mse")
            model.fit(x, y)
        main()
        """),
    ),
    "a subclass outside, kept in self": (
        "model-outside-scope",
        [6],
        program("""
        import keras, tensorflow as tf
        class Net(keras.Model): pass
        class Trainer:
            def __init__(self):
                self.strategy = tf.distribute.MirroredStrategy()
                self.model = Net()
            def train(self, data):
                self.model.compile("adam", "mse")
                self.model.fit(data)
        Trainer().train(load())
        """),
    ),
    "compile outside, optimizer in a name": (
        "compile-outside-scope",
        [6],
        TF
        + "s = tf.distribute.MirroredStrategy()\nopt = tf.keras.optimizers.SGD()\nwith s.scope():\n  m = tf.keras.Sequential([])\n"
        + "m.compile(opt, 'mse')",
    ),
    "compile outside by a string on Keras 3": (
        "compile-outside-scope",
        [5],
        "import keras, tensorflow as tf\ns = tf.distribute.MirroredStrategy()\nwith s.scope():\n  m = keras.Sequential([])\nm.compile('adam', 'mse')",
    ),
    "fit by the batch of a replica": (
        "per-replica-batch-as-global",
        [7],
        program("""
        import keras, tensorflow as tf
        per_gpu_batch_size = 32
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x, y, batch_size=per_gpu_batch_size)
        """),
    ),
    "the batch of a replica through a function": (
        "per-replica-batch-as-global",
        [3],
        TF
        + program("""
        def pipeline(batch):
            return tf.data.TFRecordDataset("a").map(parse).batch(batch).prefetch(1)
        strategy = tf.distribute.MirroredStrategy()
        train = strategy.experimental_distribute_dataset(pipeline(args.batch_size_per_replica))
        """),
    ),
    "the loss averaged by the batch of a replica": (
        "per-replica-batch-as-global",
        [4],
        TF
        + "BATCH_SIZE_PER_REPLICA = 8\ns = tf.distribute.MirroredStrategy()\ntf.nn.compute_average_loss(l, global_batch_size=BATCH_SIZE_PER_REPLICA)",
    ),
    "a generator": (
        "no-prefetch",
        [3],
        TF + "m = tf.keras.Sequential([])\nd = tf.data.Dataset.from_generator(gen, output_signature=s).map(f).batch(8)\nm.fit(d)",
    ),
    "files in steps": (
        "no-prefetch",
        [5],
        program("""
        from tensorflow import data, keras
        d = data.Dataset.list_files("*.png")
        d = d.shuffle(100)
        d = d.map(load, num_parallel_calls=data.AUTOTUNE)
        d = d.batch(32)
        model = keras.applications.ResNet50()
        model.compile("adam", "mse")
        model.fit(d, epochs=5)
        """),
    ),
    "files, prefetched on a way that does not come back": (
        "no-prefetch",
        [2],
        program("""
        import sys, tensorflow as tf
        d = tf.data.TFRecordDataset("a").map(parse).batch(8)
        if benchmark:
            d = d.prefetch(1)
            sys.exit(run(d))
        m = tf.keras.Sequential([])
        m.fit(d)
        """),
    ),
    "a TPU's own loop": (
        "tpu-partial-batches",
        [4],
        TF
        + "r = tf.distribute.cluster_resolver.TPUClusterResolver()\ns = tf.distribute.experimental.TPUStrategy(r)\nd = tf.data.Dataset.range(9).batch(4)\nd = s.experimental_distribute_dataset(d)",
    ),
    "a functional softmax": (
        "softmax-not-float32",
        [6],
        program("""
        from tensorflow import keras
        from tensorflow.keras import layers, mixed_precision
        mixed_precision.set_global_policy(mixed_precision.Policy("mixed_bfloat16"))
        i = keras.Input((4,))
        x = layers.Dense(8)(i)
        o = layers.Activation("softmax")(x)
        model = keras.Model(inputs=i, outputs=o)
        model.compile("adam", "sparse_categorical_crossentropy")
        """),
    ),
    "an added softmax": (
        "softmax-not-float32",
        [6],
        program("""
        from keras.models import Sequential
        from keras import layers, config
        config.set_dtype_policy("mixed_float16")
        model = Sequential()
        model.add(layers.Flatten())
        model.add(layers.Dense(10, "softmax"))
        model.compile("adam", "mse")
        """),
    ),
    "multi_gpu_model by its path": (
        "multi_gpu_model-removed".replace("_", "-"),
        [2],
        TF + "p = tf.keras.utils.multi_gpu_model(m, 2)",
    ),
    "multi_gpu_model of the module": (
        "multi-gpu-model-removed",
        [2],
        "from keras.utils.training_utils import multi_gpu_model\nmulti_gpu_model(m, 2)",
    ),
    "the Keras backend's session": (
        "legacy-session",
        [3, 4],
        "import tensorflow as tf\nfrom keras import backend as K\nsess = tf.Session()\nK.set_session(sess)",
    ),
    "device_count for Keras": (
        "legacy-session",
        [2],
        TF + 'c = tf.compat.v1.ConfigProto(device_count={"GPU": 0})\nm = tf.keras.Sequential([])\nm.fit(x)',
    ),
    "towers": (
        "device-loop",
        [3],
        TF
        + "for i, gpu in enumerate(gpus):\n  with tf.device('/gpu:%d' % i):\n    grads.append(optimizer.compute_gradients(loss))",
    ),
    "copies of a model": (
        "device-loop",
        [4],
        TF
        + "models = []\nfor gpu in tf.config.list_logical_devices('GPU'):\n  with tf.device(gpu.name):\n    models.append(tf.keras.Sequential([]))\n"
        + "for m in models: m.set_weights(w)",
    ),
    "the limit is read": ("memory-limit-misused", [2], TF + "print(tf.config.list_physical_devices('GPU')[0].memory_limit)"),
    "fit of several workers": (
        "multi-worker-fit",
        [6],
        "import tensorflow as tf\nimport keras\ns = tf.distribute.MultiWorkerMirroredStrategy()\nwith s.scope():\n  m = keras.Sequential([])\nm.fit(d)",
    ),
    "os.fork": ("cuda-before-fork", [4], "import os\nimport tensorflow as tf\ntf.zeros(3)\nif os.fork() == 0: work()"),
    "a pool": (
        "cuda-before-fork",
        [6],
        program("""
        from multiprocessing import Pool
        import tensorflow as tf
        def work(i): return tf.constant(i)
        def main():
            tf.distribute.MirroredStrategy()
            with Pool(4) as pool:
                pool.map(work, range(4))
        main()
        """),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_found(name):
    code, lines, text = FOUND[name]
    assert [(problem.line, problem.code) for problem in lint_text(text, RULES)] == [(line, code) for line in lines]
