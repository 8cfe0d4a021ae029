"""Code of child processes: it needs only the standard library and what it examines, to run under any interpreter.

Only this package uses ``pynvml``, ``ctypes.CDLL`` and ``import tensorflow``. It imports nothing else of gpucheck.
"""
