"""Child processes shared by probes and `gpucheck bench`: the training child, queries of the driver, causes of crashes."""
