"""How TensorFlow says that CUDA did not start: parts that several topics put their texts together of."""

OPENED = "I tensorflow/stream_executor/platform/default/dso_loader.cc:53] Successfully opened dynamic library libcuda.so.1"
DRIVER = "E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:268] failed call to cuInit:"
DIAGNOSTICS = "I external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:"
ABSENT = f"{DIAGNOSTICS}145] kernel driver does not appear to be running on this host"
AGREE = f"{DIAGNOSTICS}284] kernel version seems to match DSO: 580.95.5"
NO_DEVICE = f"{DRIVER} CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
