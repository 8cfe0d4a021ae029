"""Vendor tables as data, each module with its sources.

The modules are literals and small look-ups: no I/O, nothing beyond the standard library, cheap to import one by one.
A key that a table lacks is answered with None: what we do not know is never an error.

- versions: read and compare version numbers
- tensorflow: what each TensorFlow release was built with and asks for
- cuda: the CUDA of each driver, driver API results, what cuDNN has dropped
- nvml: clock event reasons
- gpus: compute capabilities, architectures, precisions
- xid: the kernel driver's Xid messages
- libraries: the shared libraries and tools that TensorFlow looks for, and where
- wheels: the platforms of TensorFlow's wheels, and the driver that their PTX needs
- frameworks: the CUDA builds of JAX and PyTorch
- images: NVIDIA's container images with TensorFlow
- keras: backends, and which Keras goes with which TensorFlow
- tpu: TPU generations, their PCI ids, and libtpu
"""
