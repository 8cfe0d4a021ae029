"""Vendor tables as data, each module with its sources.

The modules are literals and small look-ups: no I/O, only the standard library, cheap to import one by one.
A key that is not in a table returns None: unknown is not an error.

- versions: read and compare version numbers
- tensorflow: what each TensorFlow release was built with and requires
- cuda: the CUDA of each driver, driver API results, GPUs that cuDNN has dropped
- results: the spellings of CUDA's and NVML's results
- nvml: failed calls, clock event reasons, the health of NVLink
- gpus: names, compute capabilities, architectures, precisions
- xid: the kernel driver's Xid messages
- libraries: the shared libraries and tools that TensorFlow loads, and from where
- wheels: the platforms of TensorFlow's wheels, and the driver that their PTX requires
- frameworks: the CUDA builds of JAX and PyTorch
- images: NVIDIA's container images with TensorFlow
- keras: backends, and the Keras version for each TensorFlow
- removed: parts of TensorFlow and Keras that no longer exist
- modules: the package of a Python module
- vendors: packages that GPU vendors make themselves
- downloads: how much an answer of `gpucheck setup` downloads
- tpu: TPU generations, their PCI ids, and libtpu
"""
