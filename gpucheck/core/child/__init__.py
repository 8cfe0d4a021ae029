"""Code of child processes. It needs only the standard library and what it examines, so it runs under any interpreter.

Only this package uses ``pynvml``, ``ctypes.CDLL`` and ``import tensorflow``. It imports nothing else of gpucheck.
"""
