"""What runs in child processes: standard library plus what it examines, so that it also runs under another interpreter.

The only home of ``pynvml``, ``ctypes.CDLL`` and ``import tensorflow``. Nothing else of gpucheck is imported here.
"""
