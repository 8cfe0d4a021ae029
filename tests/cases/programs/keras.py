"""A Keras that only looks like it: BROKEN, PLACES and DRIFT are replaced before it is installed."""
import contextlib, os, types
import numpy as np
import jax
__version__ = "3.99.0"
backend = types.SimpleNamespace(backend=lambda: os.environ["KERAS_BACKEND"])
mixed_precision = types.SimpleNamespace(set_global_policy=lambda name: None)
def clear_session():
    BROKEN
utils = types.SimpleNamespace(clear_session=clear_session)
class Any:
    def __getattr__(self, name): return lambda *_, **__: None
layers = Any()
Input = lambda shape: None
optimizers = types.SimpleNamespace(Adam=lambda rate: types.SimpleNamespace(variables=[]))
class Callback: pass
callbacks = types.SimpleNamespace(Callback=Callback)
class Array:
    def __init__(self, data, places): self.data, self.places = data, places
    def devices(self): return set(self.places)
    @property
    def addressable_shards(self): return [types.SimpleNamespace(data=self.data + DRIFT * n) for n, _ in enumerate(self.places)]
class Variable:
    name = "kernel"
    def __init__(self): self.value = Array(np.zeros(3), PLACES)
    def numpy(self): return self.value.data.copy()
class Sequential:
    def __init__(self, layers):
        self.layers = [types.SimpleNamespace(compute_dtype="float32")]
        self.trainable_variables = self.trainable_weights = [Variable()]
    def compile(self, optimizer, **_): self.optimizer = optimizer
    def fit(self, x, y, batch_size, shuffle, verbose, callbacks):
        (callback,) = callbacks
        callback.on_train_begin()
        for step in range(len(x) // batch_size):
            callback.on_train_batch_begin(step)
            self.trainable_weights[0].value.data += 1
            callback.on_train_batch_end(step, {"loss": 2 / (step + 1), "accuracy": 0.9})
class DataParallel:
    def __init__(self, devices): self.devices = [jax.devices()[int(name[4:])] for name in devices]
    @contextlib.contextmanager
    def scope(self):
        jax.current[:] = self.devices
        yield
distribution = types.SimpleNamespace(DataParallel=DataParallel)
