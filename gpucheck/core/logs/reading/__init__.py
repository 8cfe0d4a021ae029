"""One reader for every log: TensorFlow, XLA, CUDA, NVML, the kernel, NCCL, Keras, Python, pip, containers and schedulers.

``batches`` takes a stream apart, ``screen`` finds the lines that are worth a look, ``lines`` strips their prefixes, ``patterns``
knows what they mean, ``mentions`` whether they happened, ``kept`` keeps a bounded number of events, and ``reader`` is all of it.
What follows from an event is judged in ``causes``.
"""

from gpucheck.core.logs.reading.reader import parse

__all__ = ["parse"]
