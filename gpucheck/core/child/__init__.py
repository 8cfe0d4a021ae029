"""Code of child processes. It needs only the standard library and what it examines, so it runs under any interpreter.

Only this package uses ``pynvml`` and libcuda. Of gpucheck, it imports only ``gpucheck.core.system.shadowing``. The children that
import TensorFlow, JAX or PyTorch are in ``gpucheck/core/training``.
"""
