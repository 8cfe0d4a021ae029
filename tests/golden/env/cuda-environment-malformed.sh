export CUDA_DEVICE_ORDER=PCI_BUS_ID  # CUDA does not start with FOO: it accepts only FASTEST_FIRST and PCI_BUS_ID
