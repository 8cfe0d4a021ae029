import gc
from gpucheck.core.training import inspection

try:
    with inspection.without_gc():
        assert not gc.isenabled()
        kept = [[] for _ in range(1000)]
        if {fails}:
            raise ImportError("libcudart.so.12")
except ImportError as error:
    print(error)
assert gc.isenabled()
assert gc.get_freeze_count() > 1000
assert not any(one is kept for one in gc.get_objects())
