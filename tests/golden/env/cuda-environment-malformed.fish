# CUDA does not start with FOO: it knows FASTEST_FIRST and PCI_BUS_ID only
set -gx CUDA_DEVICE_ORDER 'PCI_BUS_ID'
