"""One reader for every log: TensorFlow, XLA, CUDA, NVML, the kernel, NCCL, Keras, Python, pip, containers and schedulers.

``batches`` splits a stream, ``screen`` selects the lines to parse, ``lines`` strips their prefixes, ``patterns`` parses them,
``mentions`` detects text that only mentions a failure, ``kept`` keeps a bounded number of events, ``reader`` combines these.
``causes`` infers the causes.
"""

from gpucheck.core.logs.reading.reader import parse

__all__ = ["parse"]
