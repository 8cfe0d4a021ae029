from types import SimpleNamespace
from gpucheck.core.training.experiments import memory_after_clear

found["correct"] = memory_after_clear.run(setting)
kept = []
class Leaking:
    backend = SimpleNamespace(clear_session=lambda: (kept.append(b"x" * (100 << 20)), keras.backend.clear_session()))
    def __getattr__(self, name):
        return getattr(keras, name)
setting.keras = Leaking()
found["leaking"] = memory_after_clear.run(setting)
