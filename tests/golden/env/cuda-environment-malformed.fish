# CUDA can't be initialized with FOO: it accepts only FASTEST_FIRST and PCI_BUS_ID
set -gx CUDA_DEVICE_ORDER 'PCI_BUS_ID'
