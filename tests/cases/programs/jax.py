"""A JAX that only looks like it."""
import contextlib, types
__version__ = "0.99.0"
class Device:
    platform, device_kind = "cpu", "cpu"
    def __init__(self, number): self.id = number
    def memory_stats(self): return None
_all = [Device(0), Device(1)]
current = _all[:1]
def devices(backend=None): return _all
@contextlib.contextmanager
def default_device(device):
    current[:] = [device]
    yield
config = types.SimpleNamespace(jax_default_matmul_precision="tensorfloat32")
