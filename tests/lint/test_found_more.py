"""Each mistake in the ways in which people make it: the code that has to come out, and nothing else."""

import textwrap

import pytest

from gpucheck.lint.pages import load_rules
from gpucheck.lint.runner import lint_text

RULES = load_rules()

FOUND = {
    "backend-set-after-import": {
        "update dict": """
            import os
            import keras
            os.environ.update({"KERAS_BACKEND": "jax"})
        """,
        "update kw": """
            import os
            import keras
            os.environ.update(KERAS_BACKEND="jax")
        """,
        "|=": """
            import os
            import keras
            os.environ |= {"KERAS_BACKEND": "jax"}
        """,
        "in main": """
            import os, argparse
            import keras
            def main():
              a = argparse.ArgumentParser().parse_args()
              os.environ["KERAS_BACKEND"] = a.backend
            if __name__ == "__main__":
              main()
        """,
        "from keras.models": """
            import os
            from keras.models import Sequential
            os.environ["KERAS_BACKEND"]="torch"
        """,
        "tf compat alias": """
            import os
            from tensorflow import keras
            os.environ["KERAS_BACKEND"]="jax"
        """,
        "fstring/format": """
            import os as o
            import keras as K
            o.environ["KERAS_BACKEND"] = str("jax")
        """,
        "in class": """
            import os
            import keras
            class T:
              def __init__(self, b="jax"):
                os.environ["KERAS_BACKEND"] = b
            T()
        """,
        "try import": """
            import os
            try:
              import keras
            except ImportError:
              raise
            os.environ["KERAS_BACKEND"] = "jax"
        """,
    },
    "memory-growth-set-late": {
        "functional model": """
            import tensorflow as tf
            i=tf.keras.Input((3,))
            m=tf.keras.Model(i, tf.keras.layers.Dense(1)(i))
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
        "sequential with input": """
            import tensorflow as tf
            m=tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
        "load_model": """
            import tensorflow as tf
            m=tf.keras.models.load_model("a.keras")
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
        "dataset": """
            import tensorflow as tf
            d=tf.data.TFRecordDataset("a")
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
        "cast": """
            import tensorflow as tf
            x=tf.cast(3, tf.float32)
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
        "in function after": """
            import tensorflow as tf
            def setup():
              gpus=tf.config.list_physical_devices("GPU")
              if gpus:
                for g in gpus: tf.config.experimental.set_memory_growth(g, True)
            def main():
              s=tf.distribute.MirroredStrategy()
              setup()
            main()
        """,
        "list comp": """
            import tensorflow as tf
            tf.random.normal((3,))
            [tf.config.experimental.set_memory_growth(g, True) for g in tf.config.list_physical_devices("GPU")]
        """,
        "strategy compat": """
            import tensorflow as tf
            s=tf.distribute.experimental.CentralStorageStrategy()
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
        "directory dataset": """
            import tensorflow as tf
            d=tf.keras.utils.image_dataset_from_directory("a")
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
        "tf.one_hot": """
            import tensorflow as tf
            d=tf.one_hot([1],3)
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
        "gen from_tensor_slices .map": """
            import tensorflow as tf
            d=tf.data.Dataset.from_tensor_slices([1]).map(lambda x: x)
            for g in tf.config.list_physical_devices("GPU"):
              tf.config.experimental.set_memory_growth(g, True)
        """,
    },
    "memory-growth-partial": {
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
    },
    "model-outside-scope": {
        "plain": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            print(s.num_replicas_in_sync)
            m=tf.keras.Sequential([])
            m.compile("adam","mse")
            m.fit(x)
        """,
        "compile in": """
            import tensorflow as tf
            m=tf.keras.Sequential([])
            s=tf.distribute.MirroredStrategy()
            with s.scope():
              m.compile("adam","mse")
            m.fit(x)
        """,
        "with as": """
            import tensorflow as tf
            def build():
              i=tf.keras.Input((3,))
              return tf.keras.Model(i, tf.keras.layers.Dense(1)(i))
            def main():
              s=tf.distribute.MirroredStrategy()
              m=build()
              with s.scope():
                m.compile("adam","mse")
              m.fit(x)
            if __name__=="__main__": main()
        """,
        "applications": """
            import tensorflow as tf
            s=tf.distribute.TPUStrategy(r)
            b=tf.keras.applications.ResNet50()
            with s.scope():
              b.compile("adam","mse")
            b.fit(x)
        """,
        "only fit in scope": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            m=tf.keras.Sequential([])
            m.compile("adam","mse")
            with s.scope():
              m.fit(x)
        """,
        "layers added in scope only": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            m=tf.keras.applications.VGG16()
            with s.scope():
              m.compile("adam")
              m.fit(x)
        """,
        "loaded model": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            m=tf.keras.models.load_model("a.keras")
            with s.scope():
              m.compile("adam")
            m.fit(x)
        """,
    },
    "compile-outside-scope": {
        "plain": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            with s.scope():
              m=tf.keras.Sequential([])
            m.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
            m.fit(x)
        """,
        "function": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            def b():
              m=tf.keras.Sequential([])
              m.add(tf.keras.layers.Dense(1))
              return m
            with s.scope():
              m=b()
            m.compile(tf.keras.optimizers.SGD(0.1), "mse")
        """,
        "from import": """
            from tensorflow.keras.optimizers import Adam
            from tensorflow.keras.models import Sequential
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            with s.scope():
              m=Sequential()
            m.compile(Adam(), "mse")
        """,
        "legacy": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            with s.scope():
              m=tf.keras.Sequential([])
            m.compile(tf.keras.optimizers.legacy.Adam(), "mse")
        """,
        "subclass": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            class N(tf.keras.Model): pass
            with s.scope():
              m=N()
            m.compile(tf.keras.optimizers.Adam(), "mse")
        """,
    },
    "per-replica-batch-as-global": {
        "fit": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            BATCH_PER_GPU=32
            with s.scope():
              m=tf.keras.Sequential([]); m.compile("adam","mse")
            m.fit(x,y,batch_size=BATCH_PER_GPU)
        """,
        "ds": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            per_replica_batch_size=32
            d=s.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(per_replica_batch_size))
        """,
        "positional batch": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            batch_size_per_gpu=32
            with s.scope():
              m=tf.keras.Sequential([]); m.compile("adam","mse")
            m.fit(x,y,batch_size_per_gpu)
        """,
        "dir": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            batch_size_per_replica=32
            d=tf.keras.utils.image_dataset_from_directory("a", batch_size=batch_size_per_replica)
            with s.scope():
              m=tf.keras.Sequential([]); m.compile("adam","mse")
            m.fit(d)
        """,
        "flags": """
            import tensorflow as tf
            s=tf.distribute.MirroredStrategy()
            from absl import flags
            F=flags.FLAGS
            d=s.experimental_distribute_dataset(tf.data.TFRecordDataset("a").batch(F.per_replica_batch_size))
        """,
    },
    "no-prefetch": {
        "tfrecord": """
            import tensorflow as tf
            m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
            m.compile("adam","mse")
            d=tf.data.TFRecordDataset("a").map(f).shuffle(3).batch(8)
            m.fit(d)
        """,
        "repeat after": """
            import tensorflow as tf
            m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
            m.compile("adam","mse")
            d=tf.data.TFRecordDataset("a").map(f).batch(8).repeat()
            m.fit(d, steps_per_epoch=3)
        """,
        "interleave": """
            import tensorflow as tf
            m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
            m.compile("adam","mse")
            d=tf.data.Dataset.list_files("a").interleave(tf.data.TFRecordDataset).map(f).batch(3)
            m.fit(d)
        """,
        "subclass model": """
            import tensorflow as tf
            class N(tf.keras.Model): pass
            m=N()
            m.compile("adam")
            d=tf.data.TextLineDataset("a").map(f).batch(3)
            m.fit(x=d)
        """,
        "function": """
            import tensorflow as tf
            m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
            m.compile("adam","mse")
            def ds(fn, train):
              d=tf.data.TFRecordDataset(fn)
              d=d.map(parse)
              if train:
                d=d.shuffle(3).repeat()
              return d.batch(8)
            m.fit(ds("a", True), epochs=1)
        """,
        "padded": """
            import tensorflow as tf
            m=tf.keras.Sequential([tf.keras.layers.Dense(1)])
            m.compile("adam","mse")
            d=tf.data.TFRecordDataset("a").map(f).padded_batch(8)
            m.fit(d)
        """,
    },
    "tpu-partial-batches": {
        "plain": """
            import tensorflow as tf
            r=tf.distribute.cluster_resolver.TPUClusterResolver()
            s=tf.distribute.TPUStrategy(r)
            with s.scope():
              m=tf.keras.Sequential([])
              m.compile("adam","mse")
            m.fit(tf.data.Dataset.from_tensor_slices(x).batch(8))
        """,
        "False": """
            import tensorflow as tf
            r=tf.distribute.cluster_resolver.TPUClusterResolver()
            s=tf.distribute.TPUStrategy(r)
            with s.scope():
              m=tf.keras.Sequential([])
              m.compile("adam","mse")
            m.fit(tf.data.Dataset.from_tensor_slices(x).batch(8, drop_remainder=False))
        """,
        "prefetch": """
            import tensorflow as tf
            r=tf.distribute.cluster_resolver.TPUClusterResolver()
            s=tf.distribute.TPUStrategy(r)
            with s.scope():
              m=tf.keras.Sequential([])
              m.compile("adam","mse")
            m.fit(tf.data.Dataset.from_tensor_slices(x).shuffle(3).batch(128).prefetch(-1), epochs=3)
        """,
        "tfds": """
            import tensorflow_datasets as tfds
            import tensorflow as tf
            r=tf.distribute.cluster_resolver.TPUClusterResolver()
            s=tf.distribute.TPUStrategy(r)
            with s.scope():
              m=tf.keras.Sequential([])
              m.compile("adam","mse")
            m.fit(tfds.load("mnist", split="train", as_supervised=True).batch(128))
        """,
        "experimental": """
            import tensorflow as tf
            r=tf.distribute.cluster_resolver.TPUClusterResolver()
            s=tf.distribute.experimental.TPUStrategy(r)
            with s.scope():
              m=tf.keras.Sequential([])
              m.compile("adam","mse")
            m.fit(tf.data.TFRecordDataset("a").map(f).batch(8).prefetch(1))
        """,
    },
    "softmax-not-float32": {
        "seq": """
            import tensorflow as tf
            tf.keras.mixed_precision.set_global_policy("mixed_float16")
            m=tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
            m.compile("adam","mse")
        """,
        "tf.nn.softmax": """
            import tensorflow as tf
            from tensorflow.keras import mixed_precision as mp
            mp.set_global_policy("mixed_float16")
            m=tf.keras.Sequential([tf.keras.layers.Dense(3, activation=tf.nn.softmax)])
            m.compile("adam","mse")
        """,
        "gpus guard": """
            import tensorflow as tf
            if tf.config.list_physical_devices("GPU"):
              tf.keras.mixed_precision.set_global_policy("mixed_float16")
            m=tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
            m.compile("adam","mse")
        """,
        "experimental": """
            import tensorflow as tf
            from tensorflow.keras.mixed_precision import experimental as mp
            mp.set_policy(mp.Policy("mixed_float16"))
            i=tf.keras.Input((3,))
            o=tf.keras.layers.Dense(3,activation="softmax")(i)
            m=tf.keras.Model(i,o)
            m.compile("adam","mse")
        """,
        "function": """
            import keras
            def build():
              i=keras.Input((3,))
              x=keras.layers.Dense(3)(i)
              o=keras.layers.Softmax()(x)
              return keras.Model(i,o)
            def main():
              keras.mixed_precision.set_global_policy("mixed_bfloat16")
              m=build()
              m.compile("adam","mse")
            main()
        """,
        "list outputs": """
            import keras
            keras.mixed_precision.set_global_policy("mixed_bfloat16")
            i=keras.Input((3,))
            o=keras.layers.Dense(3,"softmax")(i)
            m=keras.Model(inputs=[i],outputs=[o])
            m.compile("adam","mse")
        """,
        "set then function at root": """
            import keras
            keras.mixed_precision.set_global_policy("mixed_float16")
            def build():
              m=keras.Sequential()
              m.add(keras.layers.Dense(3,activation="softmax"))
              m.compile("adam","mse")
              return m
        """,
        "x = reuse": """
            import keras
            keras.mixed_precision.set_global_policy("mixed_float16")
            i=keras.Input((3,))
            x=keras.layers.Dense(3)(i)
            x=keras.layers.Activation("softmax")(x)
            m=keras.models.Model(i,x)
            m.compile("adam","mse")
        """,
        "no compile, tape": """
            import keras
            keras.mixed_precision.set_dtype_policy("mixed_float16")
            m=keras.Sequential([keras.layers.Dense(3,activation="softmax")])
            m.compile(loss="mse")
        """,
        "sigmoid?": """
            import keras
            keras.mixed_precision.set_global_policy("mixed_float16")
            m=keras.Sequential([keras.layers.Dense(3,activation=keras.activations.softmax)])
            m.compile("adam","mse")
        """,
    },
    "multi-gpu-model-removed": {
        "K.utils": """
            import keras
            m=keras.utils.multi_gpu_model(m,gpus=2)
        """,
        "in fn": """
            from keras.utils import multi_gpu_model
            def f(m, n):
              if n > 1:
                m=multi_gpu_model(m,gpus=n)
              return m
        """,
        "training_utils": """
            from keras.utils.training_utils import multi_gpu_model as mg
            mg(m)
        """,
        "tf.python": """
            from tensorflow.python.keras.utils.multi_gpu_utils import multi_gpu_model
            multi_gpu_model(m,2)
        """,
        "star": """
            from keras.utils import *
            multi_gpu_model(m,2)
        """,
        "np_utils": """
            from keras.utils import np_utils, multi_gpu_model
        """,
    },
    "legacy-session": {
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
    },
    "device-loop": {
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
    },
    "memory-limit-misused": {
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
    },
    "multi-worker-fit": {
        "plain": """
            import keras, tensorflow as tf
            s=tf.distribute.MultiWorkerMirroredStrategy()
            with s.scope():
              m=keras.Sequential([]); m.compile("adam","mse")
            m.fit(d)
        """,
        "exp": """
            from keras import layers, Model
            import keras
            import tensorflow as tf
            s=tf.distribute.experimental.MultiWorkerMirroredStrategy()
            with s.scope():
              i=keras.Input((3,)); m=Model(i, layers.Dense(1)(i)); m.compile("adam","mse")
            m.fit(d)
        """,
        "fn": """
            import keras
            import tensorflow as tf
            def build():
              m=keras.Sequential([]); m.compile("adam","mse"); return m
            def main():
              s=tf.distribute.MultiWorkerMirroredStrategy()
              with s.scope():
                m=build()
              m.fit(d)
            main()
        """,
        "in scope": """
            import keras
            import tensorflow as tf
            s=tf.distribute.MultiWorkerMirroredStrategy()
            with s.scope():
              m=keras.Sequential([]); m.compile("adam","mse")
              m.fit(d)
        """,
        "env backend": """
            import os
            os.environ["KERAS_BACKEND"]="tensorflow"
            import tensorflow as tf
            import keras
            s=tf.distribute.MultiWorkerMirroredStrategy()
            with s.scope():
              m=keras.applications.ResNet50(); m.compile("adam","mse")
            m.fit(d)
        """,
    },
    "cuda-before-fork": {
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
    },
}


@pytest.mark.parametrize(("code", "name"), [(code, name) for code, programs in FOUND.items() for name in programs])
def test_found(code, name):
    assert {problem.code for problem in lint_text(textwrap.dedent(FOUND[code][name]), RULES)} == {code}


def test_enough_of_each():
    assert {rule.code for rule in RULES} == FOUND.keys()
    assert min(map(len, FOUND.values())) >= 5
