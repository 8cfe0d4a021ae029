export CUDA_DEVICE_ORDER=PCI_BUS_ID  # CUDA does not start with FOO: it knows FASTEST_FIRST and PCI_BUS_ID only
