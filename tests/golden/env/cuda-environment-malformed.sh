export CUDA_DEVICE_ORDER=PCI_BUS_ID  # CUDA can't be initialized with FOO: it accepts only FASTEST_FIRST and PCI_BUS_ID
